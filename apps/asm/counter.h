/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The source of counts in this build of the apps. It is Perf by default. Separate builds for
 * version 2 (COUNTER in apps/build.mk) use Tock's driver CycleCount, which counts only cycles, or
 * the core's counters, read in user mode or in machine mode. A read returns TM_READ_RETURNS,
 * cycles, and instructions; CycleCount returns the high half of the cycles instead of instructions.
 */
#ifndef TM_ASM_COUNTER_H
#define TM_ASM_COUNTER_H

#include "abi.h"

#if defined(TM_CYCLECOUNT)
#define TM_COUNTER "cyclecount"
#define TM_READ_DRIVER TOCK_CYCLE_COUNT
#define TM_READ_COMMAND TOCK_CYCLE_COUNT_READ
#define TM_READ_RETURNS TOCK_SUCCESS_U64
#elif defined(TM_CSR)
/* No driver counts here: the rows that measure a command ask the alarm for the time. */
#define TM_COUNTER "csr"
#ifdef TM_MACHINE
#define TM_CSR_MODE "machine"
#define TM_CSR_CYCLES mcycle
#define TM_CSR_INSTRET minstret
#else
#define TM_CSR_MODE "user"
#define TM_CSR_CYCLES cycle
#define TM_CSR_INSTRET instret
#endif
#define TM_READ_DRIVER TOCK_ALARM
#define TM_READ_COMMAND TOCK_ALARM_NOW
#define TM_READ_RETURNS TOCK_SUCCESS_U32
#define TM_COUNTS_INSTRET 1
#else
#define TM_COUNTER "perf"
#define TM_READ_DRIVER TM_PERF
#define TM_READ_COMMAND TM_PERF_BOTH
#define TM_READ_RETURNS TOCK_SUCCESS_U32_U32
#define TM_BY_PERF 1
#define TM_COUNTS_INSTRET 1
#endif

#ifndef TM_BY_PERF
#define TM_BY_PERF 0
#endif
#ifndef TM_COUNTS_INSTRET
#define TM_COUNTS_INSTRET 0
#endif

#endif
