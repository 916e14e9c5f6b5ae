/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Lends memory to ipc_borrower, and then more of the same memory. */
#define LEND_MORE
#include "ipc_lender.c"
