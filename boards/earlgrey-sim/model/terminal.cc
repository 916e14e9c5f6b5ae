// SPDX-License-Identifier: Apache-2.0 OR MIT
// A pseudo-terminal: opens it, drops the input from clients, and waits for them at the end.
#include "terminal.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <thread>
#include <unistd.h>

namespace earlgrey {
namespace {

// The link, for the signal handler; it lives as long as the terminal.
const char *linked = nullptr;

void unlink_and_die(int signal) {
    unlink(linked);
    raise(signal); // SA_RESETHAND: this ends the process
}

void unlink_on(int signal) {
    struct sigaction old, action = {};
    action.sa_handler = unlink_and_die;
    action.sa_flags = SA_RESETHAND;
    if (sigaction(signal, nullptr, &old) == 0 && old.sa_handler != SIG_IGN)
        sigaction(signal, &action, nullptr);
}

std::FILE *cannot(const std::string &what) {
    std::fprintf(stderr, "earlgrey-sim: cannot %s: %s\n", what.c_str(), std::strerror(errno));
    return nullptr;
}

} // namespace

std::FILE *Terminal::open(const std::string &link) {
    const int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
        return cannot("open a pseudo-terminal");
    name_ = ptsname(master);
    // Stays open for the whole run, so that settings and unread bytes outlive each client.
    slave_ = ::open(name_.c_str(), O_RDWR | O_NOCTTY);
    termios settings;
    if (slave_ < 0 || tcgetattr(slave_, &settings) != 0)
        return cannot("open " + name_);
    cfmakeraw(&settings);
    if (tcsetattr(slave_, TCSANOW, &settings) != 0)
        return cannot("make " + name_ + " raw");
    if (!link.empty()) {
        if (symlink(name_.c_str(), link.c_str()) != 0)
            return cannot("make the link " + link);
        link_ = link;
        linked = link_.c_str();
        for (const int signal : {SIGINT, SIGTERM, SIGHUP})
            unlink_on(signal);
    }
    std::thread([master] {
        char dropped[256];
        while (read(master, dropped, sizeof dropped) > 0)
            continue;
    }).detach();
    std::fprintf(stderr, "earlgrey-sim: uart %s\n", name_.c_str());
    return fdopen(master, "w");
}

// Returns the number of bytes that no client has read. Some may still be inside the kernel and not
// counted; a poll before makes the kernel deliver them.
int Terminal::unread() const {
    pollfd slave = {slave_, POLLIN, 0};
    poll(&slave, 1, 0);
    int bytes = 0;
    ioctl(slave_, FIONREAD, &bytes);
    return bytes;
}

// A terminal loses unread bytes when it closes. The count may be zero for a moment, after a client
// has read some bytes and before the kernel delivers the next, so it must stay zero for a while: a
// single check lost the end in 4 of 178 runs.
void Terminal::drain() const {
    constexpr std::chrono::milliseconds kPause(10);
    constexpr unsigned kSure = 10, kLong = 100;
    if (slave_ < 0)
        return;
    unsigned looks = 0;
    for (unsigned none = 0; none < kSure; none = unread() ? 0 : none + 1) {
        if (++looks == kLong)
            std::fprintf(stderr, "earlgrey-sim: waits until somebody reads the end from %s\n",
                         name_.c_str());
        std::this_thread::sleep_for(kPause);
    }
}

Terminal::~Terminal() {
    if (!link_.empty())
        unlink(link_.c_str());
}

} // namespace earlgrey
