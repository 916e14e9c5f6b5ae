// SPDX-License-Identifier: Apache-2.0 OR MIT
// Earl Grey as taped out, on the CW310 FPGA board: its memory map, registers and timing. Source:
// OpenTitan's RTL at edf5e35f5d (earlgrey_es); comments name the modules. On the reference programs
// the model has the same cycle counts as the RTL (docs/boards-and-simulator.md).
#pragma once

namespace earlgrey::machine {

// --- timing, in core cycles -------------------------------------------------------------------

// rv_core_ibex, PipeLine=1: a request and a response FIFO at each port, neither with pass-through.
constexpr unsigned kPortFifoDepth = 2;

// tlul_adapter_sram and tlul_adapter_host: requests inside one device.
constexpr unsigned kOutstanding = 2;

// sram_ctrl_main (prim_ram_1p_adv): acceptance to answer.
constexpr unsigned kSramAnswer = 1;
// tlul_sram_byte: a sub-word write reads, merges and writes back; the port is closed meanwhile.
constexpr unsigned kSramSubwordWrite = 3;

// rom_ctrl (prim_rom_adv), behind a one-entry request FIFO with pass-through and a one-entry
// response FIFO without (xbar_main).
constexpr unsigned kRomAnswer = 1;
constexpr bool kRomFifos = true;

// PLIC, flash_ctrl and other register blocks on xbar_main, with a register stage each way.
constexpr unsigned kRegisterAnswer = 3;
constexpr unsigned kRegisterReached = 1;  // the register itself (tlul_adapter_reg)
constexpr unsigned kRegisterInterval = 2; // from one answer to the next

// An address without a device: tlul_err_resp.
constexpr unsigned kNothingAnswer = 1;

// xbar_peri runs at a quarter of the core clock; requests and answers cross in tlul_fifo_async.
constexpr unsigned kPeripheralClock = 4;     // core cycles in a peripheral cycle
constexpr unsigned kPeripheralSetup = 1;     // from acceptance to the first edge that captures it
constexpr unsigned kPeripheralInterval = 16; // from one capture to the next
constexpr unsigned kPeripheralAnswer = 15;   // from capture to answer
constexpr unsigned kPeripheralAccess = 8;    // from capture to the effect of a write
// From an interrupt line of a peripheral to the core and to the PLIC: prim_flop_2sync.
constexpr unsigned kInterruptSync = 2;

// aon_timer runs on the always-on clock: 250 kHz on this board (clkgen_xil7series), 24 MHz / 96.
constexpr unsigned kAonTick = 96;

// flash_phy_rd: read buffers in each bank, bytes in each, and the array's read time (no
// scrambling); behind one-entry FIFOs both ways without pass-through (xbar_main).
constexpr unsigned kFlashBuffers = 4;
constexpr unsigned kFlashWordBytes = 8;
constexpr unsigned kFlashArrayRead = 2;
constexpr unsigned kFlashBankBit = 19;
constexpr bool kFlashKeepsOwed = true;
constexpr bool kFlashFifos = true;

// otp_ctrl: from the i-cache's request for a scrambling key to the key. The chip's figure is not
// known. Of all values from 0 to 119, this one fits most of the reference programs.
constexpr unsigned kScrambleKey = 46;

// --- memory map (top_earlgrey) ----------------------------------------------------------------

constexpr uint32_t kRomBase = 0x00008000, kRomSize = 32 << 10;
constexpr uint32_t kSramBase = 0x10000000, kSramSize = 128 << 10;
constexpr uint32_t kFlashBase = 0x20000000, kFlashSize = 1 << 20;
constexpr uint32_t kBootAddress = 0x00008000; // the first instruction is 0x80 further on

constexpr uint32_t kUart0 = 0x40000000;
constexpr uint32_t kRvTimer = 0x40100000;
constexpr uint32_t kOtpCtrl = 0x40130000;
constexpr uint32_t kAonTimer = 0x40470000;
constexpr uint32_t kPlic = 0x48000000, kPlicSize = 0x08000000;

// The word of the one-time memory that the boot ROM copies to the core's CPUCTRL register
// (CREATOR_SW_CFG_CPUCTRL, seen through the software window of otp_ctrl).
constexpr uint32_t kOtpCpuctrl = kOtpCtrl + 0x1000 + 284;

constexpr unsigned kIrqSources = 185;
constexpr unsigned kUart0FirstIrq = 1, kUartIrqs = 8;
constexpr unsigned kRvTimerIrq = 124;
constexpr unsigned kAonTimerFirstIrq = 155, kAonTimerIrqs = 2;

// --- registers --------------------------------------------------------------------------------

constexpr unsigned kUartFifoDepth = 128;
// tx_watermark, by FIFO_CTRL.TXILVL: when fewer than this many bytes are left.
constexpr unsigned kUartTxLevels[] = {1, 2, 4, 8, 16, 32, 64, 64};
// rx_watermark, by FIFO_CTRL.RXILVL: when at least this many bytes are received.
constexpr unsigned kUartRxLevels[] = {1, 2, 4, 8, 16, 32, 64, 126};

enum UartRegister : uint32_t {
    kUartIntrState = 0x00,
    kUartIntrEnable = 0x04,
    kUartIntrTest = 0x08,
    kUartCtrl = 0x10,
    kUartStatus = 0x14,
    kUartRdata = 0x18,
    kUartWdata = 0x1c,
    kUartFifoCtrl = 0x20,
    kUartFifoStatus = 0x24,
    kUartTimeoutCtrl = 0x30,
};

enum TimerRegister : uint32_t {
    kTimerCtrl = 0x004,
    kTimerIntrEnable = 0x100,
    kTimerIntrState = 0x104,
    kTimerIntrTest = 0x108,
    kTimerCfg = 0x10c,
    kTimerLow = 0x110,
    kTimerHigh = 0x114,
    kTimerCompareLow = 0x118,
    kTimerCompareHigh = 0x11c,
};

// sram_ctrl of main and of retention SRAM; only the first can allow code to run (InstrExec).
constexpr std::array<uint32_t, 2> kSramControls = {0x411c0000, 0x40500000};
enum SramRegister : uint32_t { kSramExecRegwen = 0x08, kSramExec = 0x0c };

enum PlicRegister : uint32_t {
    kPlicPriority = 0x0000,
    kPlicPending = 0x1000,
    kPlicEnable = 0x2000,
    kPlicThreshold = 0x200000,
    kPlicClaim = 0x200004,
};

// Blocks behind xbar_peri, and register blocks on xbar_main. Blocks without a model read as zero
// and ignore writes; --touched lists the accessed ones.
constexpr Window kPeripherals[] = {
    {kUart0, 0x40, "uart0", 0x34},
    {0x40010000, 0x40, "uart1", 0x34},
    {0x40020000, 0x40, "uart2", 0x34},
    {0x40030000, 0x40, "uart3", 0x34},
    {0x40040000, 0x40, "gpio", 0x40},
    {0x40050000, 0x2000, "spi_device", 0x100},
    {0x40080000, 0x80, "i2c0", 0x58},
    {0x40090000, 0x80, "i2c1", 0x58},
    {0x400a0000, 0x80, "i2c2", 0x58},
    {0x400e0000, 0x40, "pattgen", 0x30},
    {kRvTimer, 0x200, "rv_timer", 0x8},
    {kOtpCtrl, 0x2000, "otp_ctrl", 0x90},
    {0x40140000, 0x100, "lc_ctrl", 0x8c},
    {0x40150000, 0x800, "alert_handler", 0x578},
    {0x40300000, 0x40, "spi_host0", 0x38},
    {0x40310000, 0x40, "spi_host1", 0x38},
    {0x40320000, 0x1000, "usbdev", 0x90},
    {0x40400000, 0x80, "pwrmgr", 0x44},
    {0x40410000, 0x80, "rstmgr", 0x70},
    {0x40420000, 0x80, "clkmgr", 0x58},
    {0x40430000, 0x100, "sysrst_ctrl", 0xac},
    {0x40440000, 0x80, "adc_ctrl", 0x7c},
    {0x40450000, 0x80, "pwm", 0x5c},
    {0x40460000, 0x1000, "pinmux", 0x8e0},
    {kAonTimer, 0x40, "aon_timer", 0x30},
    {0x40480000, 0x400, "ast", 0x9c},
    {0x40490000, 0x40, "sensor_ctrl", 0x28},
    {0x40500000, 0x20, "sram_ctrl_ret", 0x18},
    {0x40600000, 0x1000, "retention_sram", 0x1000},
};
constexpr Window kRegisterBlocks[] = {
    {0x41000000, 0x200, "flash_ctrl", 0x1b8},   {0x41100000, 0x100, "aes", 0x88},
    {0x41110000, 0x1000, "hmac", 0x6c},         {0x41120000, 0x1000, "kmac", 0xf4},
    {0x41130000, 0x10000, "otbn", 0x2c},        {0x41140000, 0x100, "keymgr", 0xfc},
    {0x41150000, 0x80, "csrng", 0x44},          {0x41160000, 0x100, "entropy_src", 0xe4},
    {0x41170000, 0x80, "edn0", 0x44},           {0x41180000, 0x80, "edn1", 0x44},
    {0x411c0000, 0x20, "sram_ctrl_main", 0x18}, {0x411e0000, 0x80, "rom_ctrl", 0x48},
    {0x411f0000, 0x100, "rv_core_ibex", 0x64},  {0x41200000, 0x4, "rv_dm", 0x4},
    {kPlic, kPlicSize, "rv_plic", 0x2e4},
};
// The registers and buffers further on in a block, behind a gap.
constexpr Range kMoreRegisters[] = {
    {0x40050800, 0x4005083c},
    {0x40051000, 0x40052000},
    {kRvTimer + 0x100, kRvTimer + 0x120},
    {kOtpCtrl + 0x1000, kOtpCtrl + 0x1800},
    {0x40320800, 0x40321000},
    {0x40480200, 0x40480214},
    {0x41110800, 0x41111000},
    {0x41120400, 0x41120600},
    {0x41120800, 0x41121000},
    {0x41134000, 0x41135000},
    {0x41138000, 0x41138c00},
    {0x411f0080, 0x411f00a0},
    {kPlic + 0x1000, kPlic + 0x1018},
    {kPlic + 0x2000, kPlic + 0x2018},
    {kPlic + 0x200000, kPlic + 0x200008},
    {kPlic + 0x4000000, kPlic + 0x4000004},
    {kPlic + 0x4004000, kPlic + 0x4004004},
};

// flash_ctrl: the locks of the protection regions (REGION_CFG_REGWEN_0 to 7) are open.
constexpr ResetValue kResetValues[] = {{0x41000030, 8, 1}};

} // namespace earlgrey::machine
