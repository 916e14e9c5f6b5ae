/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * EEMBC's work on lists, matrices and a state machine, from the sources in Ibex's package. It is
 * not a CoreMark run: the sources do not check the time, and one iteration is not a valid run.
 *
 * The known answers are the checksums that EEMBC publishes for these seeds and 666 bytes each.
 */
#include "program.h"

#include "core_portme.h"
#include <stdarg.h>
#include <string.h>

enum { LIST, MATRIX, STATE, CHECKSUMS };

static const struct {
    const char *line; /* start of the program's line on it */
    uint32_t known;
} checksum[CHECKSUMS] = {
    [LIST] = {"[%d]crclist", 0xe714},
    [MATRIX] = {"[%d]crcmatrix", 0x1fd7},
    [STATE] = {"[%d]crcstate", 0x8e3a},
};
static uint32_t said[CHECKSUMS];

/* The seeds of the performance run. */
volatile ee_s32 seed1_volatile = 0, seed2_volatile = 0, seed3_volatile = 0x66;
volatile ee_s32 seed4_volatile = ITERATIONS, seed5_volatile = 0;
ee_u32 default_num_contexts = 1;

void start_time(void) {}
void stop_time(void) {}
CORE_TICKS get_time(void) { return 1; }
secs_ret time_in_secs(CORE_TICKS ticks) { return ticks; }
void portable_init(core_portable *p, int *argc, char *argv[]) { (void)p, (void)argc, (void)argv; }
void portable_fini(core_portable *p) { (void)p; }

int ee_printf(const char *format, ...) {
    for (uint32_t i = 0; i < CHECKSUMS; i++)
        if (!strncmp(format, checksum[i].line, strlen(checksum[i].line))) {
            va_list given;
            va_start(given, format);
            (void)va_arg(given, int); /* the context's number */
            said[i] = va_arg(given, unsigned);
            va_end(given);
        }
    return 0;
}

int lms_main(void);

static void prepare(const uint32_t *value) {
    (void)value;
    memset(said, 0, sizeof said);
}

static uint32_t work(void *arg) {
    (void)arg;
    return (uint32_t)lms_main();
}

static bool is_right(const uint32_t *value) {
    (void)value;
    for (uint32_t i = 0; i < CHECKSUMS; i++)
        if (said[i] != checksum[i].known)
            return false;
    return true;
}

TM_PROGRAM(lms, lms_iteration, 2048, prepare, work, is_right);
