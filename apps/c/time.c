/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The app time: what a reading of the counters costs. Its rows are those that the harness measures
 * in every app (runtime/own.c); this app lets them be run alone.
 */
#include "bench.h"

const struct tm_app tm_app = {.name = "time", .lang = "c", .cc = TM_CC};
