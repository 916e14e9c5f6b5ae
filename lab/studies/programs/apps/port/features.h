/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* PQClean asks the C library how old the compiler is: picolibc does not tell. */
#define __GNUC_PREREQ(major, minor)                                                                \
    (__GNUC__ > (major) || (__GNUC__ == (major) && __GNUC_MINOR__ >= (minor)))
