// SPDX-License-Identifier: Apache-2.0 OR MIT
// Earl Grey as it was in 2020, on the Nexys Video FPGA board of the study: its memory map, its
// registers and every number of its timing. Source: OpenTitan's RTL at 99cb19827, by module as
// named.
#pragma once

namespace earlgrey::machine {

// --- timing, in core cycles -------------------------------------------------------------------

// rv_core_ibex, PipeLine=1: a request and a response FIFO at each port, neither with pass-through.
constexpr unsigned kPortFifoDepth = 2;

// tlul_adapter_sram and tlul_adapter_host: requests inside one device.
constexpr unsigned kOutstanding = 2;

// sram_ctrl_main (prim_ram_1p_adv): acceptance to answer.
constexpr unsigned kSramAnswer = 1;
// Bytes have write enables of their own.
constexpr unsigned kSramSubwordWrite = 1;

// rom (prim_rom_adv), straight on xbar_main.
constexpr unsigned kRomAnswer = 1;
constexpr bool kRomFifos = false;

// PLIC, flash_ctrl and other register blocks on xbar_main, with a register stage each way.
constexpr unsigned kRegisterAnswer = 3;

// An address that nothing answers: tlul_err_resp.
constexpr unsigned kNothingAnswer = 1;

// xbar_peri runs at a quarter of the core clock; requests and answers cross in tlul_fifo_async.
constexpr unsigned kPeripheralClock = 4;    // core cycles in a peripheral cycle
constexpr unsigned kPeripheralSetup = 2;    // from acceptance to the first edge that captures it
constexpr unsigned kPeripheralInterval = 4; // from one capture to the next
constexpr unsigned kPeripheralAnswer = 14;  // from capture to answer
constexpr unsigned kPeripheralAccess = 8;   // from capture to the register itself (not checked)

// flash_phy_rd: read buffers in each bank, bytes in each, and the array's read time (no
// scrambling); straight on xbar_main.
constexpr unsigned kFlashBuffers = 4;
constexpr unsigned kFlashWordBytes = 8;
constexpr unsigned kFlashArrayRead = 2;
constexpr unsigned kFlashBankBit = 18;
constexpr bool kFlashFifos = false;

// This i-cache is not scrambled.
constexpr unsigned kScrambleKey = 0;

// --- memory map (top_earlgrey) ----------------------------------------------------------------

constexpr uint32_t kRomBase = 0x00008000, kRomSize = 16 << 10;
constexpr uint32_t kSramBase = 0x10000000, kSramSize = 64 << 10;
constexpr uint32_t kFlashBase = 0x20000000, kFlashSize = 512 << 10;
constexpr uint32_t kBootAddress = 0x00008000; // the first instruction is 0x80 further on

constexpr uint32_t kUart0 = 0x40000000;
constexpr uint32_t kRvTimer = 0x40100000;
constexpr uint32_t kOtpCtrl = 0x40130000;
constexpr uint32_t kPlic = 0x41010000, kPlicSize = 0x1000;

// Where the simulator's boot ROM finds what to write to the core's CPUCTRL register. The ROM of
// 2020 left that register alone; a word of the one-time memory is ours to use.
constexpr uint32_t kOtpCpuctrl = kOtpCtrl + 0x1000 + 284;

constexpr unsigned kIrqSources = 86;
constexpr unsigned kUart0FirstIrq = 33, kUartIrqs = 8;
constexpr unsigned kRvTimerIrq = 0; // on the core's timer line only

// --- registers --------------------------------------------------------------------------------

constexpr unsigned kUartFifoDepth = 32;
// tx_watermark, by FIFO_CTRL.TXILVL: when fewer than this many bytes are left.
constexpr unsigned kUartTxLevels[] = {2, 4, 8, 16};

enum UartRegister : uint32_t {
    kUartIntrState = 0x00,
    kUartIntrEnable = 0x04,
    kUartIntrTest = 0x08,
    kUartCtrl = 0x0c,
    kUartStatus = 0x10,
    kUartWdata = 0x18,
    kUartFifoCtrl = 0x1c,
    kUartFifoStatus = 0x20,
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

enum PlicRegister : uint32_t {
    kPlicPending = 0x000,
    kPlicPriority = 0x018,
    kPlicEnable = 0x200,
    kPlicThreshold = 0x20c,
    kPlicClaim = 0x210,
};

// Blocks behind xbar_peri, and register blocks on xbar_main. Those without a model of their own
// read as zero and ignore writes; the simulator tells which were touched.
constexpr Window kPeripherals[] = {
    {kUart0, 0x1000, "uart"},
    {0x40040000, 0x1000, "gpio"},
    {0x40050000, 0x1000, "spi_device"},
    {kRvTimer, 0x1000, "rv_timer"},
    {0x40110000, 0x1000, "sensor_ctrl"},
    {kOtpCtrl, 0x4000, "otp_ctrl"},
    {0x40140000, 0x1000, "lc_ctrl"},
    {0x40400000, 0x1000, "pwrmgr"},
    {0x40410000, 0x1000, "rstmgr"},
    {0x40420000, 0x1000, "clkmgr"},
    {0x40460000, 0x1000, "pinmux"},
    {0x40470000, 0x1000, "padctrl"},
    {0x40500000, 0x1000, "usbdev"},
    {0x18000000, 0x1000, "retention_sram"},
};
constexpr Window kRegisterBlocks[] = {
    {0x41000000, 0x1000, "flash_ctrl"},    {kPlic, kPlicSize, "rv_plic"},
    {0x41100000, 0x1000, "aes"},           {0x41110000, 0x1000, "hmac"},
    {0x41120000, 0x1000, "kmac"},          {0x41130000, 0x1000, "keymgr"},
    {0x41150000, 0x1000, "csrng"},         {0x41160000, 0x1000, "entropy_src"},
    {0x41170000, 0x1000, "edn0"},          {0x41180000, 0x1000, "edn1"},
    {0x411b0000, 0x1000, "alert_handler"}, {0x411c0000, 0x1000, "nmi_gen"},
    {0x411d0000, 0x10000, "otbn"},
};

// flash_ctrl: the locks of the protection regions (REGION_CFG_REGWEN_0 to 7) are open.
constexpr ResetValue kResetValues[] = {{0x41000020, 8, 1}};

} // namespace earlgrey::machine
