/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The protocol between the apps sleeper and disturber: the scene selects what the disturbers do,
 * and they start after BEGIN_MS. The tool has the same list (tools/tockmark/latency/loads.toml).
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
