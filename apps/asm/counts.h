/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* How often a body does what it does in one sample: one list for the bodies and for the tables in
 * C. */
#ifndef TM_ASM_COUNTS_H
#define TM_ASM_COUNTS_H

#define TM_CALLS 16 /* calls of a procedure */

#define TM_BYTES 1024    /* bytes read or written one by one */
#define TM_STRADDLES 256 /* words read across a word's boundary */

#define TM_FLASH_WORDS 7936   /* words of the table in flash */
#define TM_FLASH_PASS 16      /* words read in a pass of the loop */
#define TM_FLASH_SPORADIC 239 /* words of it that the walk reads */
#define TM_FLASH_CHAIN 64     /* loads, each from where the one before says */

#endif
