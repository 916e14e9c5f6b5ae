// SPDX-License-Identifier: Apache-2.0 OR MIT
// Earl Grey of 2021-03, without a board: OpenTitan's RTL at a558aaa3f, available as a package. The
// lab simulates that whole chip in RTL (../../../../lab/chip), to check this model.
#pragma once

#include "of_2020.h"

namespace earlgrey::machine {

constexpr uint32_t kSramSize = 128 << 10;
constexpr uint32_t kFlashSize = 1 << 20;
constexpr unsigned kFlashBankBit = 19;
constexpr bool kFlashKeepsOwed = false;

// From acceptance to the first edge of the peripheral clock that captures it.
constexpr unsigned kPeripheralSetup = 1;

constexpr unsigned kIrqSources = 177;
constexpr unsigned kUart0FirstIrq = 1;
constexpr unsigned kRvTimerIrq = 125;

enum PlicRegister : uint32_t {
    kPlicPending = 0x000,
    kPlicPriority = 0x030,
    kPlicEnable = 0x300,
    kPlicThreshold = 0x318,
    kPlicClaim = 0x31c,
};

// Blocks behind xbar_peri, and register blocks on xbar_main, as in machines/nexysvideo.h.
constexpr Window kPeripherals[] = {
    {kUart0, 0x1000, "uart0", 0x30},
    {0x40010000, 0x1000, "uart1", 0x30},
    {0x40020000, 0x1000, "uart2", 0x30},
    {0x40030000, 0x1000, "uart3", 0x30},
    {0x40040000, 0x1000, "gpio", 0x3c},
    {0x40050000, 0x2000, "spi_device", 0x30},
    {0x40060000, 0x1000, "spi_host0", 0x30},
    {0x40070000, 0x1000, "spi_host1", 0x30},
    {0x40080000, 0x1000, "i2c0", 0x58},
    {0x40090000, 0x1000, "i2c1", 0x58},
    {0x400a0000, 0x1000, "i2c2", 0x58},
    {0x400e0000, 0x1000, "pattgen", 0x2c},
    {kRvTimer, 0x1000, "rv_timer", 0x4},
    {0x40110000, 0x1000, "usbdev", 0x78},
    {kOtpCtrl, 0x4000, "otp_ctrl", 0x84},
    {0x40140000, 0x1000, "lc_ctrl", 0x54},
    {0x40150000, 0x1000, "alert_handler", 0x14},
    {0x40400000, 0x1000, "pwrmgr", 0x3c},
    {0x40410000, 0x1000, "rstmgr", 0x24},
    {0x40420000, 0x1000, "clkmgr", 0x10},
    {0x40440000, 0x1000, "adc_ctrl", 0x1000},
    {0x40460000, 0x1000, "pinmux", 0x8fc},
    {0x40470000, 0x1000, "aon_timer", 0x2c},
    {0x40480000, 0x1000, "ast", 0xcc},
    {0x40490000, 0x1000, "sensor_ctrl", 0x18},
    {0x40500000, 0x1000, "sram_ctrl_ret", 0x1c},
    {0x40600000, 0x1000, "retention_sram", 0x1000},
};
constexpr Window kRegisterBlocks[] = {
    {0x41000000, 0x1000, "flash_ctrl", 0x174}, {kPlic, kPlicSize, "rv_plic", 0x2f4},
    {0x41100000, 0x1000, "aes", 0x80},         {0x41110000, 0x1000, "hmac", 0x68},
    {0x41120000, 0x1000, "kmac", 0xdc},        {0x41130000, 0x1000, "keymgr", 0xcc},
    {0x41150000, 0x1000, "csrng", 0x48},       {0x41160000, 0x1000, "entropy_src", 0xbc},
    {0x41170000, 0x1000, "edn0", 0x38},        {0x41180000, 0x1000, "edn1", 0x38},
    {0x411c0000, 0x1000, "sram_ctrl", 0x1c},   {0x411d0000, 0x10000, "otbn", 0x24},
};
// The registers and buffers further on in a block, behind a gap.
constexpr Range kMoreRegisters[] = {
    {0x40051000, 0x40052000},
    {kRvTimer + 0x100, kRvTimer + 0x120},
    {0x40110800, 0x40111000},
    {kOtpCtrl + 0x1000, kOtpCtrl + 0x1800},
    {kOtpCtrl + 0x2000, kOtpCtrl + 0x2040},
    {0x40150020, 0x40150024},
    {0x40150120, 0x40150128},
    {0x40150220, 0x40150224},
    {0x40150320, 0x401503ec},
    {0x40480200, 0x40480228},
    {0x41000180, 0x410001d4},
    {kPlic + 0x300, kPlic + 0x324},
    {0x41110800, 0x41111000},
    {0x41120400, 0x41120600},
    {0x41120800, 0x41121000},
    {0x411d4000, 0x411d5000},
    {0x411d8000, 0x411d9000},
};

} // namespace earlgrey::machine
