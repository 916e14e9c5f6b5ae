// SPDX-License-Identifier: Apache-2.0 OR MIT

//! An app that is there and does nothing: it sleeps for ever.

#![no_std]
#![no_main]

suite::beside!(|| suite::peer::rest());
