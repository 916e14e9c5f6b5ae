/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The app time: the overhead of reading the counters. The harness measures its rows
 * in every app (runtime/own.c); with this app they can be run alone.
 */
#include "bench.h"

const struct tm_app tm_app = {.name = "time", .lang = "c", .cc = TM_CC};
