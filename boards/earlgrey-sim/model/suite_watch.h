// SPDX-License-Identifier: Apache-2.0 OR MIT
// Watches the UART text for the end of the suite and for the kernel's panic message.
//
// A record is «#tm <seq> <app> <text>». The suite is over when the reporting apps have printed
// `end`: the apps given by name, or as many as apps=N in the first `begin` says. It is also over
// when another app panicked (docs/contributing.md). The tool checks the records.
//
// Any program may print the words of a panic, so only the core's address shows a real one
// (marks.h). After that, this class finds the message for the user. The baseline kernel prints one
// line. Tock prints the cause and then a line with the kernel's version.
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
            return app_panicked_ ||
                   std::includes(ended_.begin(), ended_.end(), apps_.begin(), apps_.end());
        return announced_ && ended_.size() >= announced_;
    }

    // The kernel's panic message; empty if it was not recognised.
    const std::string &panic() const { return panic_; }

private:
    static constexpr size_t kLongest = 256;

    // A broken kernel may send any byte, and the user sees its panic message.
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
            app_panicked_ |= word == "panicked";
        }
        while (record == "begin" && words >> word)
            if (word.starts_with("apps=") && !announced_)
                announced_ = std::strtoul(word.c_str() + 5, nullptr, 10);
    }

    const std::set<std::string> apps_;
    std::set<std::string> ended_;
    bool app_panicked_ = false;
    size_t announced_ = 0;
    std::string line_, last_, panic_;
};

} // namespace earlgrey
