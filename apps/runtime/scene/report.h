/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The protocol records of an app that plays a role in a scene, and the data that it keeps across
 * its own restarts.
 */
#ifndef SCENE_REPORT_H
#define SCENE_REPORT_H

#include "calls.h"

/* Each app defines its own. */
extern const struct identity {
    const char *name;
    uint32_t
        reporters; /* apps in the image that print records: the last one's end is the run's end */
    const char
        *second; /* its name if it is not the first app in flash, when flash may have it twice */
} identity;
void run(void);

/* Values from the link: this app's index in flash; the scene: a seed, or 1 if the kernel is not the
 * baseline; how many calls to make; the time to stop, counted from the kernel's start. */
extern const uint32_t app_slot, app_scene, app_calls, app_step, app_milliseconds;

/* Placed after the app's other memory and never cleared, so it survives a fault or a restart. */
extern struct kept {
    uint32_t entry[4]; /* a0 to a3 at the first instruction, this time */
    uint32_t magic;
    uint32_t starts; /* how often the app has started */
    uint32_t seq;    /* the number of the next line */
    uint32_t words[16];
} kept __asm__("_app_end");

/* A record: `kind words key=value key=value`. A number without a key is not printed. */
struct number {
    const char *key;
    uint32_t value;
};
void say(const char *kind, const char *words, struct number first, struct number second);
#define NONE ((struct number){0, 0})
#define NUMBER(...) ((struct number){__VA_ARGS__})

/* A record in parts: add its words to what begin_record returns. */
struct tm_out;
struct tm_out *begin_record(const char *kind);
void end_record(void);

/* Called before each record of `say` and before the last one; an app may define its own. */
void before_record(void);

/* End the app: it never runs again. */
_Noreturn void end_app(void);

/* Print the last record, and end the app. */
_Noreturn void finish(void);

/* The arguments of the upcalls so far. */
enum { UPCALLS_KEPT = 16 };
extern volatile struct seen {
    uint32_t count;
    struct answer calls[UPCALLS_KEPT];
} seen;

void note_upcall(uint32_t first, uint32_t second, uint32_t third, uint32_t userdata);
void forget_upcalls(void);

#endif
