// SPDX-License-Identifier: Apache-2.0 OR MIT
// Every number of Earl Grey's memory system that the model depends on, in core cycles, in one
// place. Source: OpenTitan's RTL at edf5e35f5d (earlgrey_es), module by module as named. The whole
// gives the RTL's own cycle counts on the reference programs (docs/simulator.md).
#pragma once

#include <cstdint>

namespace earlgrey::timing {

// rv_core_ibex, PipeLine=1: a request and a response FIFO at each port, neither with pass-through.
constexpr unsigned kPortFifoDepth = 2;

// tlul_adapter_sram and tlul_adapter_host: requests inside one device.
constexpr unsigned kOutstanding = 2;

// sram_ctrl_main (prim_ram_1p_adv): acceptance to answer.
constexpr unsigned kSramAnswer = 1;
// tlul_sram_byte: a sub-word write reads, merges and writes back; the port is shut meanwhile.
constexpr unsigned kSramSubwordWrite = 3;

// rom_ctrl (prim_rom_adv), behind a one-entry request FIFO with pass-through and a one-entry
// response FIFO without (xbar_main).
constexpr unsigned kRomAnswer = 1;

// PLIC, flash_ctrl and other register blocks on xbar_main, with a register stage each way.
constexpr unsigned kRegisterAnswer = 3;

// An address that nothing answers: tlul_err_resp.
constexpr unsigned kNothingAnswer = 1;

// xbar_peri runs at a quarter of the core clock; requests and answers cross in tlul_fifo_async.
constexpr unsigned kPeripheralClock = 4;     // core cycles in a peripheral cycle
constexpr unsigned kPeripheralInterval = 16; // from one capture to the next
constexpr unsigned kPeripheralAnswer = 15;   // from capture to answer
constexpr unsigned kPeripheralAccess = 8;    // from capture to the register itself (not checked)

// flash_phy_rd: read buffers in each bank, bytes in each, and the array's read time (no
// scrambling).
constexpr unsigned kFlashBuffers = 4;
constexpr unsigned kFlashWordBytes = 8;
constexpr unsigned kFlashArrayRead = 2;
constexpr unsigned kFlashBankBit = 19;

// otp_ctrl: from the i-cache's request for a scrambling key to the key. The chip's own figure is
// not known; this one met the reference programs. It moves figures of code beyond 4 KiB only.
constexpr unsigned kScrambleKey = 46;

} // namespace earlgrey::timing
