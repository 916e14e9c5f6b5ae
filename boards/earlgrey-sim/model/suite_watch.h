// SPDX-License-Identifier: Apache-2.0 OR MIT
// Watches the UART text for what ends a run: the suite's closing line, or a kernel's panic.
// A record is «#tm <seq> <app> <text>»; the first `begin` says apps=N, and the suite is over when
// N apps have said `end` (docs/protocol.md). Checking the records is the tool's business.
// The baseline kernel's panic is one line; Tock's begins with what happened, in words of its own,
// and goes on with a line that names the kernel's version.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <set>
#include <sstream>
#include <string>
#include <utility>

namespace earlgrey {

class SuiteWatch {
public:
    void byte(uint8_t c) {
        if (c != '\n') {
            if (line_.size() < kLongest)
                line_ += is_text(c) ? static_cast<char>(c) : '?';
            return;
        }
        line();
        last_ = std::exchange(line_, {});
    }
    bool over() const { return expected_ && ended_.size() >= expected_; }
    bool panicked() const { return !panic_.empty(); }
    const std::string &panic() const { return panic_; } // what the kernel says of it

private:
    static constexpr size_t kLongest = 256;

    // A wild kernel may send any byte, and its panic is shown to a person.
    static bool is_text(uint8_t c) { return c == '\t' || c == '\r' || (c >= ' ' && c < 0x7f); }

    void line() {
        while (line_.ends_with('\r'))
            line_.pop_back();
        if (line_.starts_with("tockmark-kernel: panic: "))
            panic_ = line_;
        if (line_.starts_with("\tKernel version "))
            panic_ = "panic: " + last_;
        std::istringstream words(line_);
        std::string mark, seq, app, record, word;
        words >> mark >> seq >> app >> record;
        if (mark != "#tm")
            return;
        if (record == "end")
            ended_.insert(app);
        while (record == "begin" && words >> word)
            if (word.starts_with("apps=") && !expected_)
                expected_ = std::strtoul(word.c_str() + 5, nullptr, 10);
    }

    std::string line_;
    std::set<std::string> ended_;
    size_t expected_ = 0;
    std::string last_, panic_;
};

} // namespace earlgrey
