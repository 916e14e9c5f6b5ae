/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The protocol between sharer.c and the app that notifies it. */
#ifndef TM_APPS_SHARER_H
#define TM_APPS_SHARER_H

#include "bench.h"
#include "peer.h"

#define SHARER_WORD 0x5a6b7c8d /* the first word of the shared buffer */

#endif
