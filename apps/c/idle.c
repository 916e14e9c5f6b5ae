/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* An app that does nothing: it sleeps for ever. */
#include "peer.h"

int main(void) { tm_peer_rest(); }
