/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* An app with an alarm that is further away than any run lasts. */
#include "peer.h"

int main(void) {
    tm_alarm_after(1U << 30);
    tm_peer_rest();
}
