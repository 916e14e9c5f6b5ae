// SPDX-License-Identifier: Apache-2.0 OR MIT
// A pseudo-terminal at the other end of the UART (--uart pty): programs open it like the serial
// port of a board.
//
// Bytes go in one direction. Input from clients is read and dropped, so that their writes do not
// block.
#pragma once

#include <cstdio>
#include <string>

namespace earlgrey {

class Terminal {
public:
    Terminal() = default;
    Terminal(const Terminal &) = delete;
    ~Terminal();

    // Opens it, makes a link to it if `link` is a path, and prints its name on standard error.
    // Returns the file to write to, or nullptr after a one-line error.
    std::FILE *open(const std::string &link);

    // Waits until a client has read all output; does nothing if the terminal is not open.
    void drain() const;

private:
    int unread() const;

    int slave_ = -1;
    std::string name_, link_;
};

} // namespace earlgrey
