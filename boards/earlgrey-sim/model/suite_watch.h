// SPDX-License-Identifier: Apache-2.0 OR MIT
// Watches the UART text for the suite's closing line, and for what the kernel says of a panic.
// A record is «#tm <seq> <app> <text>». The suite is over when the apps that report have said
// `end`: those that are named or, if none is, as many as the first `begin` says by apps=N. An app
// that panicked beside them ends it, too (docs/contributing.md). Checking the records is the tool's
// business.
//
// Anybody may print the words of a panic. That there was one is known by the core alone (marks.h);
// only then the words are looked for, for a person. The baseline kernel's are one line; Tock's
// begin with what happened, in words of its own, and go on with a line that names the kernel's
// version.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace earlgrey {

class SuiteWatch {
public:
    explicit SuiteWatch(const std::vector<std::string> &apps) : apps_(apps.begin(), apps.end()) {}

    void byte(uint8_t c, bool panicked) {
        if (c != '\n') {
            if (line_.size() < kLongest)
                line_ += is_text(c) ? static_cast<char>(c) : '?';
            return;
        }
        while (line_.ends_with('\r'))
            line_.pop_back();
        if (panicked)
            told();
        record();
        last_ = std::exchange(line_, {});
    }

    bool over() const {
        if (!apps_.empty())
            return fallen_ ||
                   std::includes(ended_.begin(), ended_.end(), apps_.begin(), apps_.end());
        return announced_ && ended_.size() >= announced_;
    }

    // What the kernel says of its panic; nothing if it did not say it in known words.
    const std::string &panic() const { return panic_; }

private:
    static constexpr size_t kLongest = 256;

    // A wild kernel may send any byte, and its panic is shown to a person.
    static bool is_text(uint8_t c) { return c == '\t' || c == '\r' || (c >= ' ' && c < 0x7f); }

    void told() {
        if (line_.starts_with("tockmark-kernel: panic: "))
            panic_ = line_;
        if (line_.starts_with("\tKernel version "))
            panic_ = "panic: " + last_;
    }

    void record() {
        std::istringstream words(line_);
        std::string mark, seq, app, record, word;
        words >> mark >> seq >> app >> record;
        if (mark != "#tm")
            return;
        if (record == "end" && words >> word) {
            ended_.insert(app);
            fallen_ |= word == "panicked";
        }
        while (record == "begin" && words >> word)
            if (word.starts_with("apps=") && !announced_)
                announced_ = std::strtoul(word.c_str() + 5, nullptr, 10);
    }

    const std::set<std::string> apps_;
    std::set<std::string> ended_;
    bool fallen_ = false;
    size_t announced_ = 0;
    std::string line_, last_, panic_;
};

} // namespace earlgrey
