// SPDX-License-Identifier: Apache-2.0 OR MIT
// The common part of Earl Grey's RTL of 2020-12 (99cb19827, the study's bitstream) and of 2021-03
// (a558aaa3f, the whole chip that we simulate): timing, register layouts and addresses of blocks.
// Comments name the modules.
#pragma once

namespace earlgrey::machine {

// --- timing, in core cycles -------------------------------------------------------------------

// rv_core_ibex, PipeLine=1: a request and a response FIFO at each port, neither with pass-through.
constexpr unsigned kPortFifoDepth = 2;

// tlul_adapter_sram and tlul_adapter_host: requests inside one device.
constexpr unsigned kOutstanding = 2;

// sram_ctrl_main (prim_ram_1p_adv): acceptance to answer.
constexpr unsigned kSramAnswer = 1;
// Each byte has a write enable.
constexpr unsigned kSramSubwordWrite = 1;

// rom (prim_rom_adv), directly on xbar_main.
constexpr unsigned kRomAnswer = 1;
constexpr bool kRomFifos = false;

// PLIC, flash_ctrl and other register blocks on xbar_main, with a register stage each way.
constexpr unsigned kRegisterAnswer = 3;
constexpr unsigned kRegisterReached = 1;  // the register itself (tlul_adapter_reg)
constexpr unsigned kRegisterInterval = 2; // from one answer to the next

// An address without a device: tlul_err_resp.
constexpr unsigned kNothingAnswer = 1;

// xbar_peri runs at a quarter of the core clock; requests and answers cross in tlul_fifo_async. Its
// timing is the same in both. Only the edge of the divided clock that captures a request depends on
// the machine (kPeripheralSetup).
constexpr unsigned kPeripheralClock = 4;    // core cycles in a peripheral cycle
constexpr unsigned kPeripheralInterval = 8; // from one capture to the next (tlul_adapter_reg)
constexpr unsigned kPeripheralAnswer = 14;  // from capture to answer
constexpr unsigned kPeripheralAccess = 8;   // from capture to the effect of a write
// From an interrupt line of a peripheral to the core and to the PLIC: no synchroniser.
constexpr unsigned kInterruptSync = 0;

// flash_phy_rd: read buffers in each bank, bytes in each, and the array's read time (no
// scrambling); directly on xbar_main.
constexpr unsigned kFlashBuffers = 4;
constexpr unsigned kFlashWordBytes = 8;
constexpr unsigned kFlashArrayRead = 2;
constexpr bool kFlashFifos = false;

// This i-cache is not scrambled.
constexpr unsigned kScrambleKey = 0;

// --- memory map (top_earlgrey) ----------------------------------------------------------------

constexpr uint32_t kRomBase = 0x00008000, kRomSize = 16 << 10;
constexpr uint32_t kSramBase = 0x10000000;
constexpr uint32_t kFlashBase = 0x20000000;
constexpr uint32_t kBootAddress = 0x00008000; // the first instruction is 0x80 further on

constexpr uint32_t kUart0 = 0x40000000;
constexpr uint32_t kRvTimer = 0x40100000;
constexpr uint32_t kOtpCtrl = 0x40130000;
constexpr uint32_t kPlic = 0x41010000, kPlicSize = 0x1000;

// The value that the simulator's boot ROM writes to the core's CPUCTRL register. The ROM of 2020
// did not write it, so an unused word of the one-time memory serves.
constexpr uint32_t kOtpCpuctrl = kOtpCtrl + 0x1000 + 284;

constexpr unsigned kUartIrqs = 8;

// Its aon_timer, if any, has no model.
constexpr uint32_t kAonTimer = ~0u;
constexpr unsigned kAonTick = 1, kAonTimerFirstIrq = 0, kAonTimerIrqs = 0;

// --- registers --------------------------------------------------------------------------------

constexpr unsigned kUartFifoDepth = 32;
// tx_watermark, by FIFO_CTRL.TXILVL: when fewer than this many bytes are left.
constexpr unsigned kUartTxLevels[] = {2, 4, 8, 16};
// rx_watermark, by FIFO_CTRL.RXILVL: when at least this many bytes are received.
constexpr unsigned kUartRxLevels[] = {1, 4, 8, 16, 30, ~0u, ~0u, ~0u};

enum UartRegister : uint32_t {
    kUartIntrState = 0x00,
    kUartIntrEnable = 0x04,
    kUartIntrTest = 0x08,
    kUartCtrl = 0x0c,
    kUartStatus = 0x10,
    kUartRdata = 0x14,
    kUartWdata = 0x18,
    kUartFifoCtrl = 0x1c,
    kUartFifoStatus = 0x20,
    kUartTimeoutCtrl = 0x2c,
};

enum TimerRegister : uint32_t {
    kTimerCtrl = 0x000,
    kTimerCfg = 0x100,
    kTimerLow = 0x104,
    kTimerHigh = 0x108,
    kTimerCompareLow = 0x10c,
    kTimerCompareHigh = 0x110,
    kTimerIntrEnable = 0x114,
    kTimerIntrState = 0x118,
    kTimerIntrTest = 0x11c,
};

// This model has no register that allows code in SRAM.
constexpr std::array<uint32_t, 0> kSramControls = {};
enum SramRegister : uint32_t { kSramExecRegwen, kSramExec };

// flash_ctrl: the locks of the protection regions (REGION_CFG_REGWEN_0 to 7) are open.
constexpr ResetValue kResetValues[] = {{0x41000020, 8, 1}};

} // namespace earlgrey::machine
