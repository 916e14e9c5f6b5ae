/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The records of an app, and its end if it panics, as a Rust app may. */
#ifndef TM_RUNTIME_RECORDS_H
#define TM_RUNTIME_RECORDS_H

#include "bench.h"
#include "protocol.h"

extern struct tm_out tm_log;

/* The row that is being measured, or null. */
extern const struct tm_run *tm_row_at_hand;

/* Begin a record of this type with the words that identify the row. */
void tm_begin_record(const struct tm_run *run, const char *kind);

/* Print a fail record with the source position, print `end`, so that nobody waits for the rows that
 * this app no longer measures, and end the app. `file` is a path of `length` bytes; its last part
 * is printed. */
_Noreturn void tm_panic(const char *file, uint32_t length, uint32_t line);

#endif
