// SPDX-License-Identifier: Apache-2.0 OR MIT
// The whole chip as the main loop sees it (boards/earlgrey-sim/model): all of it is RTL, and this
// fills its memories, clocks it, and hands on what its UART sends.
#pragma once

#include "Vchip.h"
#include "Vchip___024root.h"
#include "memory.h"
#include "settings.h"
#include "verilated.h"
#include <iterator>
#include <map>
#include <optional>
#include <string>

namespace earlgrey {

// The one-time memory, a word of data and its check bits each: life cycle DEV, in which the core
// may run. Made when this is built.
constexpr uint32_t kOtp[] = {
#include "otp.inc"
};

// What is known of the core, read out of the chip.
class Core {
public:
    Core() : top_(&context_) {}
    ~Core() { top_.final(); }

    bool asleep() const { return top_.core_sleep_o; }
    bool double_fault() const { return top_.double_fault_o; }
    uint32_t pc() const { return top_.pc_o; }
    bool refused() const { return top_.refused_o; }
    uint32_t exception_pc() const { return top_.exception_pc_o; }
    uint32_t exception_addr() const { return top_.exception_addr_o; }
    uint32_t last_data_addr() const { return top_.last_data_addr_o; }
    uint32_t minstret() const { return top_.minstret_o; }
    uint32_t trap_vector() const { return top_.trap_vector_o; }

protected:
    VerilatedContext context_;
    Vchip top_;
};

class System : private Core {
    // Where Verilator has the chip's memories.
#define TOCKMARK_OF_CHIP(rest) top_.rootp->earlgrey_chip_top__DOT__u_chip__DOT__##rest
#define TOCKMARK_OF_BANK(n)                                                                        \
    TOCKMARK_OF_CHIP(                                                                              \
        u_flash_eflash__DOT__u_flash__DOT__gen_prim_flash_banks__BRA__##n##__KET____DOT__u_prim_flash_bank__DOT__u_mem__DOT__mem)
    auto &rom() { return TOCKMARK_OF_CHIP(u_rom_rom__DOT__u_prim_rom__DOT__mem); }
    auto &otp() {
        return TOCKMARK_OF_CHIP(
            u_otp_ctrl__DOT__u_otp__DOT__u_prim_ram_1p_adv__DOT__u_mem__DOT__mem);
    }
    auto &flash(unsigned bank) { return bank ? TOCKMARK_OF_BANK(1) : TOCKMARK_OF_BANK(0); }
#undef TOCKMARK_OF_BANK
#undef TOCKMARK_OF_CHIP

public:
    System(Settings settings, std::optional<uint32_t> boot)
        : settings_(std::move(settings)), boot_(boot) {}

    Memories &memories() { return memories_; }
    Core &core() { return *this; }

    // Copies what was loaded into the chip, and takes it out of reset.
    void start() {
        // A register is reset by the edge of its reset, so every reset is to have been high.
        hold_reset(1, kHigh);
        patch(kRomCpuctrl, settings_.cpuctrl);
        patch(kRomEntry, boot_ ? *boot_ + 0x80 : 0);
        constexpr unsigned kOf = 4; // bytes of a word of ROM
        for (uint32_t at = 0; at < machine::kRomSize; at += kOf)
            rom()[at / kOf] = memories_.rom.read(machine::kRomBase + at);
        constexpr uint32_t kBank = 1u << machine::kFlashBankBit;
        for (uint32_t at = 0; at < machine::kFlashSize; at += machine::kFlashWordBytes) {
            const uint32_t from = machine::kFlashBase + at;
            const uint64_t word =
                memories_.flash.read(from) | uint64_t{memories_.flash.read(from + 4)} << 32;
            flash(at / kBank)[at % kBank / machine::kFlashWordBytes] = word;
        }
        for (size_t i = 0; i < std::size(kOtp); ++i)
            otp()[i] = kOtp[i];
        hold_reset(0, kLow);
        top_.rst_ni = 1;
    }

    void step_core() { clock(); }

    void step_bus(Cycle) {
        // The UART's clock is slower: what it sends stands for some cycles of the core's.
        const bool sends = top_.uart_sends_o;
        if (sends && !sent_)
            settings_.uart_sink(top_.uart_byte_o);
        sent_ = sends;
        const uint32_t offset = top_.data_addr_o - settings_.mailbox;
        if (settings_.mailbox && top_.stored_o && offset < 8)
            settings_.mail(offset, top_.data_wdata_o);
    }

    bool timer_irq() const { return top_.irq_timer_o; }
    bool external_irq() const { return top_.irq_external_o; }

    // Nobody but the RTL knows what it does next: it is never skipped, and never known to be idle.
    Cycle next_event() const { return kNever; }
    void advance_devices(Cycle) {}
    bool idle() const { return false; }
    std::map<std::string, uint64_t> touched() const { return {}; }

private:
    static constexpr unsigned kHigh = 500, kLow = 100; // cycles
    // Words of the boot ROM that a run sets (boards/earlgrey-sim/rom/rom.S).
    static constexpr uint32_t kRomCpuctrl = machine::kRomBase + 0x40;
    static constexpr uint32_t kRomEntry = machine::kRomBase + 0x44;

    void patch(uint32_t address, uint32_t word) { memories_.rom.write(address, word, 0xf); }

    void hold_reset(bool level, unsigned cycles) {
        top_.rst_ni = level;
        while (cycles--)
            clock();
    }

    // Some of the chip's logic looks at the falling edge.
    void clock() {
        top_.clk_i = 0;
        top_.eval();
        top_.clk_i = 1;
        top_.eval();
    }

    Settings settings_;
    std::optional<uint32_t> boot_;
    Memories memories_;
    bool sent_ = false;
};

} // namespace earlgrey
