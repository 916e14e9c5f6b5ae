/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The numbers of Tock's system-call interface and of the drivers used here: one list for both C and
 * assembly. TM_ABI is the interface's version, 1 (Tock 1.x) or 2 (TRD 104).
 */
#ifndef TM_ASM_ABI_H
#define TM_ASM_ABI_H

#if TM_ABI != 1 && TM_ABI != 2
#error "TM_ABI must be 1 or 2"
#endif

/* The registers of an ecall. */
#ifdef __ASSEMBLER__
#if TM_ABI == 1
#define CLASS a0
#define ARG0 a1
#define ARG1 a2
#define ARG2 a3
#define ARG3 a4
#else
#define ARG0 a0
#define ARG1 a1
#define ARG2 a2
#define ARG3 a3
#define CLASS a4
#endif
#endif

/* System-call classes. */
#define TOCK_YIELD 0
#define TOCK_SUBSCRIBE 1
#define TOCK_COMMAND 2
#if TM_ABI == 1
#define TOCK_ALLOW 3
#define TOCK_MEMOP 4
#else
#define TOCK_ALLOW_RW 3
#define TOCK_ALLOW_RO 4
#define TOCK_MEMOP 5
#define TOCK_EXIT 6
#endif

/* The first word of a result, in a0, in version 2. A failure has its error code in a1. In version 1
 * the result is one signed word in a0; runtime/tock_v1.h converts it to the first two of these. */
#define TOCK_FAILURE 0
#define TOCK_SUCCESS_U32 129
#define TOCK_FAILURE_U32 1
#define TOCK_FAILURE_U32_U32 2
#define TOCK_FAILURE_U64 3
#define TOCK_SUCCESS 128
#define TOCK_SUCCESS_U32_U32 130
#define TOCK_SUCCESS_U64 131
#define TOCK_SUCCESS_U32_U32_U32 132
#define TOCK_SUCCESS_U32_U64 133

/* The error codes that apps compare with; runtime/console.c has the names of all codes. */
#define TOCK_NOMEM 9
#define TOCK_NOSUPPORT 10
#define TOCK_NODEVICE 11

/* Types of yield, in a0. Version 1 has only one, which waits. */
#define TOCK_YIELD_NO_WAIT 0
#define TOCK_YIELD_WAIT 1
#define TOCK_YIELD_WAIT_FOR 2

/* Memory operations. */
#define TOCK_MEMOP_BRK 0
#define TOCK_MEMOP_SBRK 1
#define TOCK_MEMOP_FLASH_START 4

/* Types of exit, in a0. */
#define TOCK_EXIT_TERMINATE 0
#define TOCK_EXIT_RESTART 1

/* Drivers. No kernel has TM_ABSENT_DRIVER. Loading its number takes as many instructions as loading
 * Perf's. Perf's number is not the study's, because another driver has that number now. */
#define TOCK_ALARM 0x0
#define TOCK_CONSOLE 0x1
#define TOCK_CONSOLE_WRITE 1  /* buffer, upcall and command */
#define TOCK_CONSOLE_READ 2   /* upcall and command */
#define TOCK_CONSOLE_CANCEL 3 /* ends a read */
#if TM_ABI == 1
#define TOCK_CONSOLE_READ_BUFFER 2
#else
#define TOCK_CONSOLE_READ_BUFFER 1
#endif
#define TOCK_IPC 0x10000
#define TM_ABSENT_DRIVER 0x9fff0
#if TM_ABI == 1
#define TM_PERF 0x90004
#else
#define TM_PERF 0x90010
#endif

/* The alarm's upcall and commands. Version 1 sets it to a time, version 2 to a number of ticks from
 * now. */
#define TOCK_ALARM_UPCALL 0
#define TOCK_ALARM_FREQUENCY 1
#define TOCK_ALARM_NOW 2
#define TOCK_ALARM_STOP 3
#if TM_ABI == 1
#define TOCK_ALARM_AT 4
#else
#define TOCK_ALARM_AFTER 5
#endif

/* IPC: finding a process by its name, and notifying it as a service or as a client. In version 1
 * the latter is an argument, and the command's number is the process's number. */
#define TOCK_IPC_NAME 0 /* the buffer */
#if TM_ABI == 1
#define TOCK_IPC_SERVE 0 /* the upcall */
#define TOCK_IPC_NOTIFY_SERVICE 0
#define TOCK_IPC_NOTIFY_CLIENT 1
#else
#define TOCK_IPC_FIND 1
#define TOCK_IPC_NOTIFY_SERVICE 2
#define TOCK_IPC_NOTIFY_CLIENT 3
#endif

/* The newer IPC, of version 2: two registries, in which a process finds another one, and the relay,
 * which copies requests and responses. */
#define TOCK_BY_STRING 0xa0000
#define TOCK_BY_PACKAGE 0xa0001
#define TOCK_REGISTRY_NAME 0 /* the buffer */
#define TOCK_REGISTER 1      /* a command, whose upcall has the number before it */
#define TOCK_DISCOVER 2
#define TOCK_REGISTERED 0
#define TOCK_DISCOVERED 1
#define TOCK_RELAY 0xa0010
#define TOCK_RELAY_OUT 0 /* the buffers: what this process sends, what it receives */
#define TOCK_RELAY_IN 0
#define TOCK_RELAY_ANSWER 0 /* the upcalls */
#define TOCK_RELAY_REQUEST 1
#define TOCK_RELAY_SEND 0x10
#define TOCK_RELAY_CANCEL 0x11
#define TOCK_RELAY_ENABLE 0x20
#define TOCK_RELAY_DISABLE 0x21
#define TOCK_RELAY_TAKE 0x22
#define TOCK_RELAY_TAKE_OF 0x23
#define TOCK_RELAY_RESPOND 0x24

/* Perf's commands. Version 1 has only commands with a result of one word. */
#define TM_PERF_EXISTS 0
#define TM_PERF_CYCLES 1
#define TM_PERF_INSTRET 2
#define TM_PERF_BOTH 3 /* mcycle and minstret, low halves */
#define TM_PERF_EVENT 6
#define TM_PERF_EVENTS_START 7
#define TM_PERF_UPCALL 8

/* CycleCount, of version 2: it can replace Perf. */
#define TOCK_CYCLE_COUNT 0x90008
#define TOCK_CYCLE_COUNT_START 1
#define TOCK_CYCLE_COUNT_READ 2

/* Ibex's event counters, by the numbers of their registers. */
#define TM_EVENT_FIRST 3
#define TM_EVENT_LAST 12
#define TM_EVENTS_ALL 0x1ff8

#endif
