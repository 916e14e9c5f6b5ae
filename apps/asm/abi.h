/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The numbers of Tock's system-call interface, version 2 (TRD 104), and of the drivers used here:
 * one list for C and assembly alike.
 */
#ifndef TM_ASM_ABI_H
#define TM_ASM_ABI_H

/* System-call classes, in a4. */
#define TOCK_YIELD 0
#define TOCK_SUBSCRIBE 1
#define TOCK_COMMAND 2
#define TOCK_ALLOW_RW 3
#define TOCK_ALLOW_RO 4
#define TOCK_MEMOP 5
#define TOCK_EXIT 6

/* What a call returned, in a0. A failure has its error code in a1. */
#define TOCK_FAILURE 0
#define TOCK_FAILURE_U32 1
#define TOCK_FAILURE_U32_U32 2
#define TOCK_FAILURE_U64 3
#define TOCK_SUCCESS 128
#define TOCK_SUCCESS_U32 129
#define TOCK_SUCCESS_U32_U32 130
#define TOCK_SUCCESS_U64 131
#define TOCK_SUCCESS_U32_U32_U32 132
#define TOCK_SUCCESS_U32_U64 133

/* The error codes that apps compare with; runtime/console.c names all. */
#define TOCK_NODEVICE 11

/* Kinds of yield, in a0. */
#define TOCK_YIELD_NO_WAIT 0
#define TOCK_YIELD_WAIT 1
#define TOCK_YIELD_WAIT_FOR 2

/* Memory operations, in a0. */
#define TOCK_MEMOP_BRK 0
#define TOCK_MEMOP_SBRK 1
#define TOCK_MEMOP_FLASH_START 4

/* Kinds of exit, in a0. */
#define TOCK_EXIT_TERMINATE 0
#define TOCK_EXIT_RESTART 1

/* Drivers. No kernel has TM_ABSENT_DRIVER; its number takes as many instructions to load as Perf's.
 */
#define TOCK_CONSOLE 0x1
#define TM_PERF 0x90010
#define TM_ABSENT_DRIVER 0x9fff0

#define TM_PERF_EXISTS 0
#define TM_PERF_BOTH 3 /* mcycle and minstret, low halves */

#endif
