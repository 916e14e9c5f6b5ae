// SPDX-License-Identifier: Apache-2.0 OR MIT
// Where things are on Earl Grey (earlgrey_es, as on the CW310). Source: top_earlgrey's memory map.
#pragma once

#include <cstdint>

namespace earlgrey::machine {

constexpr uint32_t kRomBase = 0x00008000, kRomSize = 32 << 10;
constexpr uint32_t kSramBase = 0x10000000, kSramSize = 128 << 10;
constexpr uint32_t kFlashBase = 0x20000000, kFlashSize = 1 << 20;
constexpr uint32_t kBootAddress = 0x00008000; // the first instruction is 0x80 further on

constexpr uint32_t kUart0 = 0x40000000;
constexpr uint32_t kRvTimer = 0x40100000;
constexpr uint32_t kOtpCtrl = 0x40130000;
constexpr uint32_t kPlic = 0x48000000, kPlicSize = 0x08000000;

// The word of the one-time memory that the boot ROM copies to the core's CPUCTRL register
// (CREATOR_SW_CFG_CPUCTRL, seen through the software window of otp_ctrl).
constexpr uint32_t kOtpCpuctrl = kOtpCtrl + 0x1000 + 284;

constexpr unsigned kUart0FirstIrq = 1, kUartIrqs = 8;
constexpr unsigned kRvTimerIrq = 124;

struct Window {
    uint32_t base, size;
    const char *name;
};

// Blocks behind xbar_peri, and register blocks on xbar_main. Those without a model of their own
// read as zero and ignore writes; the simulator tells which were touched.
constexpr Window kPeripherals[] = {
    {kUart0, 0x40, "uart0"},
    {0x40010000, 0x40, "uart1"},
    {0x40020000, 0x40, "uart2"},
    {0x40030000, 0x40, "uart3"},
    {0x40040000, 0x40, "gpio"},
    {0x40050000, 0x2000, "spi_device"},
    {0x40080000, 0x80, "i2c0"},
    {0x40090000, 0x80, "i2c1"},
    {0x400a0000, 0x80, "i2c2"},
    {0x400e0000, 0x40, "pattgen"},
    {kRvTimer, 0x200, "rv_timer"},
    {kOtpCtrl, 0x2000, "otp_ctrl"},
    {0x40140000, 0x100, "lc_ctrl"},
    {0x40150000, 0x800, "alert_handler"},
    {0x40300000, 0x40, "spi_host0"},
    {0x40310000, 0x40, "spi_host1"},
    {0x40320000, 0x1000, "usbdev"},
    {0x40400000, 0x80, "pwrmgr"},
    {0x40410000, 0x80, "rstmgr"},
    {0x40420000, 0x80, "clkmgr"},
    {0x40430000, 0x100, "sysrst_ctrl"},
    {0x40440000, 0x80, "adc_ctrl"},
    {0x40450000, 0x80, "pwm"},
    {0x40460000, 0x1000, "pinmux"},
    {0x40470000, 0x40, "aon_timer"},
    {0x40480000, 0x400, "ast"},
    {0x40490000, 0x40, "sensor_ctrl"},
    {0x40500000, 0x20, "sram_ctrl_ret"},
    {0x40600000, 0x1000, "retention_sram"},
};
constexpr Window kRegisterBlocks[] = {
    {0x41000000, 0x200, "flash_ctrl"},    {0x41100000, 0x100, "aes"},
    {0x41110000, 0x1000, "hmac"},         {0x41120000, 0x1000, "kmac"},
    {0x41130000, 0x10000, "otbn"},        {0x41140000, 0x100, "keymgr"},
    {0x41150000, 0x80, "csrng"},          {0x41160000, 0x100, "entropy_src"},
    {0x41170000, 0x80, "edn0"},           {0x41180000, 0x80, "edn1"},
    {0x411c0000, 0x20, "sram_ctrl_main"}, {0x411e0000, 0x80, "rom_ctrl"},
    {0x411f0000, 0x100, "rv_core_ibex"},  {0x41200000, 0x4, "rv_dm"},
    {kPlic, kPlicSize, "rv_plic"},
};

} // namespace earlgrey::machine
