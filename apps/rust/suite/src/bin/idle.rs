// SPDX-License-Identifier: Apache-2.0 OR MIT

//! An app that does nothing: it sleeps for ever.

#![no_std]
#![no_main]

suite::helper!(|| suite::peer::rest());
