/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The port of EEMBC's sources: no library, no time. The names are EEMBC's. */
#ifndef TM_PROGRAMS_CORE_PORTME_H
#define TM_PROGRAMS_CORE_PORTME_H

#include <stddef.h>
#include <stdint.h>

#define HAS_FLOAT 0
#define HAS_TIME_H 0
#define USE_CLOCK 0
#define HAS_STDIO 0
#define HAS_PRINTF 0
#define MAIN_HAS_NOARGC 1
#define MAIN_HAS_NORETURN 0
#define MULTITHREAD 1
#define SEED_METHOD SEED_VOLATILE
#define MEM_METHOD MEM_STATIC
#define MEM_LOCATION "STATIC"
#define COMPILER_VERSION "GCC"
#define COMPILER_FLAGS ""

typedef int16_t ee_s16;
typedef uint16_t ee_u16;
typedef int32_t ee_s32;
typedef uint8_t ee_u8;
typedef uint32_t ee_u32;
typedef uintptr_t ee_ptr_int;
typedef size_t ee_size_t;
typedef uint32_t CORE_TICKS;
typedef uint32_t secs_ret;

#define align_mem(x) ((void *)(((ee_ptr_int)(x) + 3) & ~(ee_ptr_int)3))

extern ee_u32 default_num_contexts;

typedef struct CORE_PORTABLE_S {
    ee_u8 portable_id;
} core_portable;

void portable_init(core_portable *p, int *argc, char *argv[]);
void portable_fini(core_portable *p);
int ee_printf(const char *format, ...);
#endif
