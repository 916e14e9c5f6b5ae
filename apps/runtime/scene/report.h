/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What an app that plays a part in a scene says, as protocol records, and what it remembers over
 * its own end.
 */
#ifndef SCENE_REPORT_H
#define SCENE_REPORT_H

#include "calls.h"

/* Each app defines its own. */
extern const struct identity {
    const char *name;
    uint32_t reporters; /* apps in the image that print records: the last one's end is the run's */
    const char
        *second; /* its name where it is not the first app in flash, if it may be there twice */
} identity;
void run(void);

/* What the link says: which app in flash this is, from 0; the scene: a seed, or 1 where the kernel
 * is not the baseline; how many calls to make; when to stop, since the start of the kernel. */
extern const uint32_t app_slot, app_scene, app_calls, app_step, app_milliseconds;

/* Behind the app's other memory, and never cleared: what outlives a fault or a restart. */
extern struct kept {
    uint32_t entry[4]; /* a0 to a3 at the first instruction, this time */
    uint32_t magic;
    uint32_t starts; /* how often the app began */
    uint32_t seq;    /* the number of the next line */
    uint32_t words[16];
} kept __asm__("_app_end");

/* A record of one's own: `kind words key=value key=value`; without a key, no value. */
struct number {
    const char *key;
    uint32_t value;
};
void say(const char *kind, const char *words, struct number first, struct number second);
#define NONE ((struct number){0, 0})
#define NUMBER(...) ((struct number){__VA_ARGS__})

/* The same in parts: begin_record returns where its words go. */
struct tm_out;
struct tm_out *begin_record(const char *kind);
void end_record(void);

/* Called before the record of `say` and the last one; does nothing unless an app has its own. */
void before_record(void);

/* The end of an app: it never runs again. */
_Noreturn void end_app(void);

/* The last record, and the end of the app. */
_Noreturn void finish(void);

/* What the upcalls so far were called with. */
enum { UPCALLS_KEPT = 16 };
extern volatile struct seen {
    uint32_t count;
    struct answer calls[UPCALLS_KEPT];
} seen;

void note_upcall(uint32_t first, uint32_t second, uint32_t third, uint32_t userdata);
void forget_upcalls(void);

#endif
