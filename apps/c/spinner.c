/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* An app that uses all the time it gets: it never yields. */

int main(void) {
    for (;;)
        __asm__ volatile("");
}
