// SPDX-License-Identifier: Apache-2.0 OR MIT
// Physical memory protection with 16 regions and mseccfg (ibex_pmp.sv, and its registers in
// ibex_cs_registers.sv). For each privilege and access, the last range with one answer is
// kept until a register changes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace earlgrey::ibex {

enum class Privilege : uint32_t { kUser = 0, kMachine = 3 };
enum class Access : uint32_t { kRead, kWrite, kExecute, kAccesses };

class Pmp {
public:
    static constexpr unsigned kRegions = 16;

    bool refuses(uint32_t address, Access access, Privilege privilege) {
        Range &range = ranges_[privilege == Privilege::kMachine][static_cast<uint32_t>(access)];
        if (address < range.first || address > range.last) [[unlikely]]
            range = find(address, access, privilege);
        return range.refused;
    }

    uint32_t address(unsigned region) const { return addresses_[region]; }
    uint32_t configuration(unsigned number) const { // register pmpcfg<number>
        uint32_t word = 0;
        for (unsigned i = 0; i < 4; ++i)
            word |= settings_[4 * number + i] << 8 * i;
        return word;
    }
    uint32_t mseccfg() const { return mseccfg_; }

    void write_address(unsigned region, uint32_t value) {
        const bool top_of_locked =
            region + 1 < kRegions && locked(region + 1) && mode(region + 1) == kTopOfRange;
        if (!locked(region) && !top_of_locked)
            addresses_[region] = value;
        ranges_ = {};
    }

    void write_configuration(unsigned number, uint32_t word) {
        for (unsigned i = 0; i < 4; ++i) {
            const unsigned region = 4 * number + i;
            uint32_t value = word >> 8 * i & (kLock | kMode | kRwx);
            if (!(mseccfg_ & kMml) && (value & kRead) == 0)
                value &= ~kWrite;
            // With MML, no new rule may let machine mode execute.
            const uint32_t rwx = value & kRwx;
            const bool executes =
                (value & kLock) && (rwx == kExecute || rwx == kWrite ||
                                    rwx == (kWrite | kExecute) || rwx == (kRead | kExecute));
            const bool suppressed = (mseccfg_ & kMml) && !(mseccfg_ & kRlb) && executes;
            if (!locked(region) && !suppressed)
                settings_[region] = value;
        }
        ranges_ = {};
    }

    void write_mseccfg(uint32_t value) {
        bool any_locked = false;
        for (unsigned region = 0; region < kRegions; ++region)
            any_locked |= locked(region);
        mseccfg_ = ((mseccfg_ | value) & (kMml | kMmwp)) | (any_locked ? 0 : value & kRlb);
        ranges_ = {};
    }

private:
    enum Setting { kRead = 1, kWrite = 2, kExecute = 4, kRwx = 7, kMode = 0x18, kLock = 0x80 };
    enum Mode : uint32_t { kOff = 0, kTopOfRange = 1, kFourBytes = 2, kPowerOfTwo = 3 };
    enum Mseccfg : uint32_t { kMml = 1, kMmwp = 2, kRlb = 4 };

    struct Range { // addresses with the same answer; none by default
        uint32_t first = 1, last = 0;
        bool refused = false;
    };

    uint32_t mode(unsigned region) const { return (settings_[region] & kMode) >> 3; }
    bool locked(unsigned region) const { return (settings_[region] & kLock) && !(mseccfg_ & kRlb); }

    // Finds the first region with this address, and the largest range around the address that the
    // regions before it do not cut.
    Range find(uint32_t address, Access access, Privilege privilege) const {
        uint64_t first = 0, end = uint64_t{1} << 32;
        bool refused = (mseccfg_ & kMmwp) || privilege != Privilege::kMachine ||
                       ((mseccfg_ & kMml) && access == Access::kExecute);
        for (unsigned region = 0; region < kRegions; ++region) {
            const auto [low, high] = limits(region);
            if (low >= high)
                continue;
            if (address >= low && address < high) {
                first = std::max(first, low);
                end = std::min(end, high);
                refused = !permits(settings_[region], access, privilege);
                break;
            }
            if (address < low)
                end = std::min(end, low);
            else
                first = std::max(first, high);
        }
        return {static_cast<uint32_t>(first), static_cast<uint32_t>(end - 1), refused};
    }

    // The region's first address and the one after its last; addresses have 34 bits.
    std::pair<uint64_t, uint64_t> limits(unsigned region) const {
        const uint64_t own = uint64_t{addresses_[region]} << 2;
        switch (mode(region)) {
        case kTopOfRange: return {region ? uint64_t{addresses_[region - 1]} << 2 : 0, own};
        case kFourBytes: return {own, own + 4};
        case kPowerOfTwo: {
            const uint64_t size = ((own >> 2 ^ ((own >> 2) + 1)) + 1) << 2;
            return {own & ~(size - 1), (own & ~(size - 1)) + size};
        }
        default: return {0, 0};
        }
    }

    bool permits(uint32_t setting, Access access, Privilege privilege) const {
        constexpr uint32_t kBit[] = {kRead, kWrite, kExecute};
        const bool basic = setting & kBit[static_cast<uint32_t>(access)];
        const bool machine = privilege == Privilege::kMachine, lock = setting & kLock;
        if (!(mseccfg_ & kMml))
            return basic || (machine && !lock);
        const bool reads = access == Access::kRead, writes = access == Access::kWrite;
        if ((setting & (kRead | kWrite)) == kWrite) // shared regions
            switch ((lock ? 2 : 0) | (setting & kExecute ? 1 : 0)) {
            case 0: return reads || (writes && machine);
            case 1: return reads || writes;
            case 2: return access == Access::kExecute;
            default: return access == Access::kExecute || (reads && machine);
            }
        if (lock && (setting & kRwx) == kRwx)
            return reads;
        return basic && machine == lock;
    }

    std::array<uint32_t, kRegions> settings_{}, addresses_{};
    uint32_t mseccfg_ = 0;
    std::array<std::array<Range, static_cast<uint32_t>(Access::kAccesses)>, 2> ranges_{};
};

} // namespace earlgrey::ibex
