/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The app time: what a reading of the counters costs. Its one row, "time.read", is the one that the
 * harness measures first in every app (runtime/bench.c); this app lets it be run alone.
 */
#include "bench.h"

const struct tm_app tm_app = {.name = "time"};
