/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* PQClean asks the C library for the compiler's version; picolibc does not define it. */
#define __GNUC_PREREQ(major, minor)                                                                \
    (__GNUC__ > (major) || (__GNUC__ == (major) && __GNUC_MINOR__ >= (minor)))
