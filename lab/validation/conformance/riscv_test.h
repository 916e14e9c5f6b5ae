// SPDX-License-Identifier: Apache-2.0 OR MIT
// The environment that riscv-tests need, for a bare Ibex. A test runs from SRAM in user or machine
// mode and ends with an ecall. The number of the failure (0: none) goes to the word after the
// mailbox, which ends the run. The tests are in the Ibex package, vendor/riscv-tests.
#pragma once
// clang-format off

#include "encoding.h" // of the same package, vendor/riscv-test-env

#define MAILBOX 0x41130004
#define TESTNUM gp
#define UNEXPECTED 1337 // no test has this number: a trap that the test did not ask for

// At the ecall, 1 means passed (scall relies on that), and 2 n + 1 that step n failed.
#define FAILED slli TESTNUM, TESTNUM, 1; ori TESTNUM, TESTNUM, 1

// The type of the test, which determines its mode. Ibex has no supervisor mode and no FPU.
#define RVTEST_RV32U .macro init; .endm
#define RVTEST_RV64U RVTEST_RV32U
#define RVTEST_RV32M .macro init; li a0, MSTATUS_MPP; csrs mstatus, a0; .endm
#define RVTEST_RV64M RVTEST_RV32M

// If there is a PMP, user mode needs a region over all of memory.
#ifdef WITHOUT_PMP
#define OPEN_MEMORY
#else
#define OPEN_MEMORY                                                                               \
        li t0, -1;                                                                                \
        csrw pmpaddr0, t0;                                                                        \
        li t0, PMP_NAPOT | PMP_R | PMP_W | PMP_X;                                                 \
        csrw pmpcfg0, t0;
#endif

#define RVTEST_CODE_BEGIN                                                                         \
        .section .text.init;                                                                      \
        .weak mtvec_handler;                                                                      \
        .globl _start;                                                                            \
        .org 0x80;                                                                                \
_start: j reset;                                                                                  \
        .balign 256;                                                                              \
trap:   csrr t5, mcause;                                                                          \
        li t6, CAUSE_USER_ECALL;                                                                  \
        beq t5, t6, report;                                                                       \
        li t6, CAUSE_MACHINE_ECALL;                                                               \
        beq t5, t6, report;                                                                       \
        la t6, mtvec_handler;                                                                     \
        beqz t6, 1f;                                                                              \
        jr t6;                                                                                    \
1:      li TESTNUM, UNEXPECTED;                                                                   \
        FAILED;                                                                                   \
report: srli TESTNUM, TESTNUM, 1;                                                                 \
        li t5, MAILBOX;                                                                           \
        sw TESTNUM, 0(t5);                                                                        \
1:      j 1b;                                                                                     \
reset:  csrwi 0x7c0, ICACHE;                                                                      \
        la t0, trap;                                                                              \
        csrw mtvec, t0;                                                                           \
        OPEN_MEMORY                                                                               \
        csrwi mstatus, 0;                                                                         \
        init;                                                                                     \
        li TESTNUM, 0;                                                                            \
        la t0, 1f;                                                                                \
        csrw mepc, t0;                                                                            \
        mret;                                                                                     \
1:

#define RVTEST_CODE_END unimp
#define RVTEST_PASS li TESTNUM, 1; ecall
#define RVTEST_FAIL FAILED; ecall
#define RVTEST_DATA_BEGIN .balign 16
#define RVTEST_DATA_END .balign 16
