/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The samplers and the measured bodies, for C. The .S file of a group lists the instructions that
 * its bodies retire.
 */
#ifndef TM_ASM_BODIES_H
#define TM_ASM_BODIES_H

#include "counter.h"
#include "shot.h"

#include "rows.h" /* declares the bodies, of type tm_body */

void tm_sample(struct tm_shot *shot);
void tm_sample_passes(struct tm_shot *shot); /* calls the body shot->passes times */

/* How often each of Ibex's events occurred (version 2 only). */
#define TM_EVENTS (TM_EVENT_LAST - TM_EVENT_FIRST + 1)
void tm_sample_events(struct tm_shot *shot, uint32_t counts[TM_EVENTS]);

/* The words to copy, read or write: a multiple of 8. */
struct tm_span {
    uint32_t *to;
    uint32_t *from;
    uint32_t *from_end;
};

extern const uint32_t tm_flash_table[TM_INNER_flash_read_seq];
extern const uint32_t tm_flash_within[], tm_flash_next[], tm_flash_far[];

struct tm_allow {
    void *address;
    uint32_t length;
};

/* A console write. `upcalls` counts its completions. */
struct tm_write {
    uint32_t upcalls;
    uint32_t length;
};

/* Fatal ends of apps: asm/endings.S. */
void tm_fault(void);
void tm_restart(void);

void tm_upcall_count(uint32_t first, uint32_t second, uint32_t third, void *count);

#endif
