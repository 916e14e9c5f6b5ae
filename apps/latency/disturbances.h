/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What the apps sleeper and disturber agree on: the scene says what the disturbers do, and when
 * they begin. The tool has the same list (tools/tockmark/latency/loads.toml).
 */
#ifndef LATENCY_DISTURBANCES_H
#define LATENCY_DISTURBANCES_H

#include "report.h"

enum disturbance {
    SPIN,
    IPC_PAIRS,
    NOTIFY,
    WRITES,
    PRINTS,
    MEMORY,
    ALARMS,
    RESTARTS,
    FAULTS,
    RELAYS,
    KINDS
};

enum { BEGIN_MS = 4 }; /* after the start of the kernel; the sleeper has had some alarms by then */

#endif
