// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The slots in which a process keeps its subscriptions and allowed buffers: one slot per upcall or buffer
//! of each driver, found by the driver's number and the number of the upcall or buffer. The numbers of the
//! drivers and of processes are also here, since the tables are made of them.

use crate::abi::{ErrorCode, PERF, RELAYS, UpcallId};

/// The most applications that the kernel takes.
pub const MAX_PROCESSES: usize = if cfg!(feature = "eight") { 8 } else { 4 };

/// The numbers of the drivers.
pub const ALARM: u32 = 0x0;
pub const CONSOLE: u32 = 0x1;
pub const DEBUG: u32 = 0x8;
pub const IPC: u32 = 0x1_0000;
pub const BY_STRING: u32 = 0xA_0000;
pub const BY_PACKAGE: u32 = 0xA_0001;
pub const RELAY: u32 = 0xA_0010;
pub const CRYPTO: u32 = 0x9_0020;

/// The upcalls that report on a process's own calls. Each has a place in the process's queue
/// ([`crate::upcall`]), so a driver can queue no others.
pub const OWN_UPCALLS: &[UpcallId] = &[
    id(ALARM, 0),
    id(CONSOLE, 1),
    id(CONSOLE, 2),
    id(PERF, 0),
    #[cfg(not(feature = "abi-v1"))]
    id(BY_STRING, 0),
    #[cfg(not(feature = "abi-v1"))]
    id(BY_STRING, 1),
    #[cfg(not(feature = "abi-v1"))]
    id(BY_PACKAGE, 0),
    #[cfg(not(feature = "abi-v1"))]
    id(BY_PACKAGE, 1),
    #[cfg(not(feature = "abi-v1"))]
    id(RELAY, 0),
    #[cfg(any(test, feature = "crypto"))]
    id(CRYPTO, 0),
];

const fn id(driver: u32, number: u32) -> UpcallId {
    UpcallId { driver, number }
}

/// An entry of [`OWN_UPCALLS`]. Another one does not compile.
#[derive(Clone, Copy)]
pub struct OwnUpcall(UpcallId);

impl OwnUpcall {
    /// Call this in constants only.
    pub const fn new(driver: u32, number: u32) -> OwnUpcall {
        let slot = slot_of(id(driver, number));
        let mut at = 0;
        while at < OWN_UPCALLS.len() {
            if slot_of(OWN_UPCALLS[at]) == slot {
                return OwnUpcall(OWN_UPCALLS[at]);
            }
            at += 1;
        }
        panic!("OWN_UPCALLS does not have this upcall");
    }

    pub const fn id(self) -> UpcallId {
        self.0
    }
}

const fn slot_of(id: UpcallId) -> usize {
    match subscription_slot(id) {
        Ok(slot) => slot,
        Err(_) => panic!("this upcall has no slot"),
    }
}

/// Each slot belongs to an own upcall, to a notification by IPC, or to requests of the relay.
const _: () = {
    let mut is_used = [false; SUBSCRIPTION_SLOTS];
    let mut at = 0;
    while at < OWN_UPCALLS.len() + MAX_PROCESSES + RELAYS as usize {
        let from_others = at.wrapping_sub(OWN_UPCALLS.len());
        let upcall = if at < OWN_UPCALLS.len() {
            OWN_UPCALLS[at]
        } else if from_others < MAX_PROCESSES {
            id(IPC, from_others as u32)
        } else {
            id(RELAY, 1)
        };
        assert!(!is_used[slot_of(upcall)], "two upcalls have one slot");
        is_used[slot_of(upcall)] = true;
        at += 1;
    }
    assert!(
        at == SUBSCRIPTION_SLOTS,
        "OWN_UPCALLS lacks an upcall that has a slot"
    );
};

/// Is the crypto driver in this build? Tests have it.
const HAS_CRYPTO: bool = cfg!(any(test, feature = "crypto"));

/// The most subscriptions, read-only buffers and read-write buffers of a process.
pub const SUBSCRIPTION_SLOTS: usize = CRYPTO_UPCALL + HAS_CRYPTO as usize;
pub const READ_ONLY_SLOTS: usize = if RELAYS { 5 } else { 2 };
pub const READ_WRITE_SLOTS: usize = CRYPTO_BUFFER + HAS_CRYPTO as usize;

/// The slots of the relay, as far as other modules need them.
const RELAY_UPCALLS: usize = 4 + MAX_PROCESSES;
pub const STRING: usize = 2;
pub const PACKAGE: usize = 3;
pub const RELAY_OUT: usize = 4;
pub const RELAY_IN: usize = 1 + MAX_PROCESSES;

/// The slots of crypto, which come last.
const CRYPTO_UPCALL: usize = RELAY_UPCALLS + if RELAYS { 6 } else { 0 };
pub const CRYPTO_BUFFER: usize = RELAY_IN + RELAYS as usize;

/// Returns the slot of the subscription to this upcall.
pub const fn subscription_slot(id: UpcallId) -> Result<usize, ErrorCode> {
    match (id.driver, id.number) {
        (ALARM, 0) => Ok(0),
        (CONSOLE, 1) => Ok(1),
        (PERF, 0) => Ok(2),
        (CONSOLE, 2) => Ok(3),
        (IPC, process) if process < MAX_PROCESSES as u32 => Ok(4 + process as usize),
        (BY_STRING, number @ 0..2) if RELAYS => Ok(RELAY_UPCALLS + number as usize),
        (BY_PACKAGE, number @ 0..2) if RELAYS => Ok(RELAY_UPCALLS + 2 + number as usize),
        (RELAY, number @ 0..2) if RELAYS => Ok(RELAY_UPCALLS + 4 + number as usize),
        (CRYPTO, 0) if HAS_CRYPTO => Ok(CRYPTO_UPCALL),
        (driver, _) => Err(absent(driver)),
    }
}

/// Does another process send this upcall by notifying? If so, it comes with the buffer that the sender
/// shares, and a new subscription keeps upcalls that are already queued: otherwise a service that starts
/// late would miss its first client.
pub fn is_from_process(id: UpcallId) -> bool {
    id.driver == IPC
}

/// Returns the slot of this read-only buffer.
pub fn read_only_slot(driver: u32, number: u32) -> Result<usize, ErrorCode> {
    match (driver, number) {
        (CONSOLE, 1) => Ok(0),
        (IPC, 0) => Ok(1),
        (BY_STRING, 0) if RELAYS => Ok(STRING),
        (BY_PACKAGE, 0) if RELAYS => Ok(PACKAGE),
        (RELAY, 0) if RELAYS => Ok(RELAY_OUT),
        (driver, _) => Err(absent(driver)),
    }
}

/// Returns the slot of this read-write buffer.
pub fn read_write_slot(driver: u32, number: u32) -> Result<usize, ErrorCode> {
    match (driver, number) {
        (CONSOLE, 1) => Ok(0),
        (IPC, process) if process < MAX_PROCESSES as u32 => Ok(1 + process as usize),
        (RELAY, 0) if RELAYS => Ok(RELAY_IN),
        (CRYPTO, 0) if HAS_CRYPTO => Ok(CRYPTO_BUFFER),
        (driver, _) => Err(absent(driver)),
    }
}

/// The process with which a read-write buffer in this slot is shared.
pub fn shared_with(slot: usize) -> Option<usize> {
    slot.checked_sub(1).filter(|with| *with < MAX_PROCESSES)
}

/// Returns the error for a slot that does not exist.
const fn absent(driver: u32) -> ErrorCode {
    match driver {
        ALARM | CONSOLE | DEBUG | IPC | PERF => ErrorCode::NoSupport,
        BY_STRING | BY_PACKAGE | RELAY if RELAYS => ErrorCode::NoSupport,
        CRYPTO if HAS_CRYPTO => ErrorCode::NoSupport,
        _ => ErrorCode::NoDevice,
    }
}
