/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Offsets in struct tm_shot (bodies.h), for the samplers. */
#ifndef TM_ASM_SHOT_H
#define TM_ASM_SHOT_H

#define SHOT_BODY 0
#define SHOT_ARG 4
#if TM_ABI == 1
#define SHOT_COUNTER 8
#define SHOT_CYCLES 12 /* of the counter, whichever it is */
#define SHOT_RESULT 16
#else
#define SHOT_CYCLES 8
#define SHOT_INSTRET 12
#define SHOT_READ_BEFORE 16
#define SHOT_READ_AFTER 20
#define SHOT_RESULT 24
#endif

#endif
