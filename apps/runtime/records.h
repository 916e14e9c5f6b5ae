/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What an app says: its records, and how it ends when it panics, as one in Rust may. */
#ifndef TM_RUNTIME_RECORDS_H
#define TM_RUNTIME_RECORDS_H

#include "bench.h"
#include "protocol.h"

extern struct tm_out tm_log;

/* The row that is being measured, if one is. */
extern const struct tm_run *tm_row_at_hand;

/* Begin a record of this kind with what tells the row from others. */
void tm_begin_record(const struct tm_run *run, const char *kind);

/* Print a fail record with the place, and `end`, so that nobody waits for what this app does not
 * measure any more; and end it. `file` is a path of so many bytes, of which the last part is
 * printed. */
_Noreturn void tm_panic(const char *file, uint32_t length, uint32_t line);

#endif
