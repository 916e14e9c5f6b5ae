// SPDX-License-Identifier: Apache-2.0 OR MIT
// The core's signals as waves (--trace), one time step per cycle. Only in builds with
// VARIANT=waves; in others this class does nothing and costs nothing.
#pragma once

#include <memory>
#include <string>
#include SYSTEM_H

#ifdef VARIANT_WAVES
#include "verilated_fst_c.h"
#endif

namespace earlgrey {

class Waves {
public:
#ifdef VARIANT_WAVES
    static constexpr bool kBuilt = true;

    // False if the file cannot be written.
    bool open(Core &core, const std::string &path, Cycle from, Cycle to) {
        from_ = from;
        to_ = to;
        file_ = std::make_unique<VerilatedFstC>();
        core.trace(*file_);
        file_->open(path.c_str());
        return file_->isOpen();
    }
    void cycle(Cycle now) {
        if (file_ && now >= from_ && now <= to_)
            file_->dump(now);
    }

private:
    std::unique_ptr<VerilatedFstC> file_; // closes itself
    Cycle from_ = 0, to_ = kNever;
#else
    static constexpr bool kBuilt = false;
    bool open(Core &, const std::string &, Cycle, Cycle) { return false; }
    void cycle(Cycle) {}
#endif
};

} // namespace earlgrey
