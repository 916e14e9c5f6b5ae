/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Asks the I2C master driver for more bytes than fit into its own buffer. */
#define OWN_BUFFER_IS_LONG
#include "i2c_length.c"
