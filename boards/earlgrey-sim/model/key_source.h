// SPDX-License-Identifier: Apache-2.0 OR MIT
// The chip's source of scrambling keys: its i-cache requests a new key when it is invalidated, and
// waits for it.
#pragma once

#include "machine.h"

namespace earlgrey {

class KeySource {
public:
    // A cycle, with or without a request; returns whether the key is there.
    bool step(bool requested) {
        if (!requested)
            wait_ = machine::kScrambleKey;
        const bool arrives = requested && wait_ == 0;
        if (wait_)
            --wait_;
        return arrives;
    }

private:
    unsigned wait_ = 0;
};

} // namespace earlgrey
