// SPDX-License-Identifier: Apache-2.0 OR MIT
// A pseudo-terminal as the UART's other end (--uart pty): programs open it as they open the serial
// port of a board.
//
// Bytes go one way. What a client writes is read and dropped, so that its writes do not block.
#pragma once

#include <cstdio>
#include <string>

namespace earlgrey {

class Terminal {
public:
    Terminal() = default;
    Terminal(const Terminal &) = delete;
    ~Terminal();

    // Opens it, links to it if `link` is a path, and says on standard error where it is. Returns
    // where to write, or nullptr after one line of what is wrong.
    std::FILE *open(const std::string &link);

    // Waits until a client has read all that was written; if it is not open, does nothing.
    void drain() const;

private:
    int unread() const;

    int slave_ = -1;
    std::string name_, link_;
};

} // namespace earlgrey
