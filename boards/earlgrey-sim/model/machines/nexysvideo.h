// SPDX-License-Identifier: Apache-2.0 OR MIT
// Earl Grey of 2020 on the Nexys Video FPGA board of the study: OpenTitan's RTL at 99cb19827.
#pragma once

#include "of_2020.h"

namespace earlgrey::machine {

constexpr uint32_t kSramSize = 64 << 10;
constexpr uint32_t kFlashSize = 512 << 10;
constexpr unsigned kFlashBankBit = 18;
constexpr bool kFlashKeepsOwed = false; // flash_phy_rd's arbiter only gets buf_valid

// From acceptance to the first edge of the peripheral clock that captures it. The divided clock's
// edge coincides with one of the core's. In the RTL, 1 and 2 are both possible, depending on which
// edge is first; on the FPGA the delay of the clock nets decides. The study's figures fit both.
constexpr unsigned kPeripheralSetup = 2;

constexpr unsigned kIrqSources = 86;
constexpr unsigned kUart0FirstIrq = 33;
constexpr unsigned kRvTimerIrq = 0; // on the core's timer line only

enum PlicRegister : uint32_t {
    kPlicPending = 0x000,
    kPlicPriority = 0x018,
    kPlicEnable = 0x200,
    kPlicThreshold = 0x20c,
    kPlicClaim = 0x210,
};

// Blocks behind xbar_peri, and register blocks on xbar_main. Blocks without a model read as zero
// and ignore writes; --touched lists the accessed ones.
constexpr Window kPeripherals[] = {
    {kUart0, 0x1000, "uart", 0x30},
    {0x40040000, 0x1000, "gpio", 0x3c},
    {0x40050000, 0x1000, "spi_device", 0x30},
    {kRvTimer, 0x1000, "rv_timer", 0x4},
    {0x40110000, 0x1000, "sensor_ctrl", 0x18},
    {kOtpCtrl, 0x4000, "otp_ctrl", 0x84},
    {0x40140000, 0x1000, "lc_ctrl", 0x54},
    {0x40400000, 0x1000, "pwrmgr", 0x38},
    {0x40410000, 0x1000, "rstmgr", 0x18},
    {0x40420000, 0x1000, "clkmgr", 0xc},
    {0x40460000, 0x1000, "pinmux", 0x80},
    {0x40470000, 0x1000, "padctrl", 0x44},
    {0x40500000, 0x1000, "usbdev", 0x70},
    {0x18000000, 0x1000, "retention_sram", 0x1000},
};
constexpr Window kRegisterBlocks[] = {
    {0x41000000, 0x1000, "flash_ctrl", 0x15c},   {kPlic, kPlicSize, "rv_plic", 0x170},
    {0x41100000, 0x1000, "aes", 0x80},           {0x41110000, 0x1000, "hmac", 0x68},
    {0x41120000, 0x1000, "kmac", 0xdc},          {0x41130000, 0x1000, "keymgr", 0xac},
    {0x41150000, 0x1000, "csrng", 0x30},         {0x41160000, 0x1000, "entropy_src", 0xa4},
    {0x41170000, 0x1000, "edn0", 0x30},          {0x41180000, 0x1000, "edn1", 0x30},
    {0x411b0000, 0x1000, "alert_handler", 0x14}, {0x411c0000, 0x1000, "nmi_gen", 0xc},
    {0x411d0000, 0x10000, "otbn", 0x24},
};
// The registers and buffers further on in a block, behind a gap.
constexpr Range kMoreRegisters[] = {
    {0x40050800, 0x40051000},
    {kRvTimer + 0x100, kRvTimer + 0x120},
    {kOtpCtrl + 0x1000, kOtpCtrl + 0x1800},
    {kOtpCtrl + 0x2000, kOtpCtrl + 0x2040},
    {0x40500800, 0x40501000},
    {kPlic + 0x200, kPlic + 0x218},
    {0x41110800, 0x41111000},
    {0x41120400, 0x41120600},
    {0x41120800, 0x41121000},
    {0x411b0020, 0x411b0024},
    {0x411b0120, 0x411b0128},
    {0x411b0220, 0x411b0224},
    {0x411b0320, 0x411b03ec},
    {0x411d4000, 0x411d5000},
    {0x411d8000, 0x411d9000},
};

} // namespace earlgrey::machine
