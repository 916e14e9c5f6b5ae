// SPDX-License-Identifier: Apache-2.0 OR MIT
// Watches the UART text for the suite's closing line, so that a run ends by itself.
// A record is «#tm <seq> <app> <text>»; the first `begin` says apps=N, and the suite is over when
// N apps have said `end` (docs/protocol.md). Checking the records is the tool's business.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <set>
#include <sstream>
#include <string>

namespace earlgrey {

class SuiteWatch {
public:
    void byte(uint8_t c) {
        if (c != '\n') {
            if (line_.size() < kLongest)
                line_ += static_cast<char>(c);
            return;
        }
        line();
        line_.clear();
    }
    bool over() const { return expected_ && ended_.size() >= expected_; }

private:
    static constexpr size_t kLongest = 256;

    void line() {
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
};

} // namespace earlgrey
