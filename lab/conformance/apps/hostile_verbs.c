/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The attempts of the app hostile: loads, stores, jumps and instructions; hostile_calls.c has the
 * calls.
 */
#include "guests.h"
#include "hostile.h"

/* hostile.S: 8 bytes per attempt. */
extern const uint32_t csr_reads[], csr_writes[], illegal_words[], harmless_words[];

static void jump(uint32_t address) { ((void (*)(void))address)(); }

static bool load(uint32_t address, uint32_t place) {
    (void)place;
    (void)*(const volatile uint32_t *)address;
    return false;
}

static bool store(uint32_t address, uint32_t place) {
    (void)place;
    *(volatile uint32_t *)address = 0xdeadbeef;
    return false;
}

static bool execute(uint32_t address, uint32_t place) {
    (void)place;
    jump(address);
    return false;
}

/* Numbers, since few people know the names of the registers. */
static const char *const csr_read_names[] = {"300", "301", "304", "305", "320", "340", "341",
                                             "342", "343", "344", "3a0", "3b0", "747", "757",
                                             "7a0", "7a1", "7b0", "7b1", "7c0", "7c1", "b00",
                                             "b02", "b03", "b80", "c00", "c02", "f11", "f14"};
static const char *const csr_write_names[] = {"300", "304", "305", "320", "340", "341",
                                              "344", "3a0", "3a3", "3b0", "3be", "747",
                                              "7a1", "7b0", "7c0", "7c1", "b00", "b02"};
static const char *const illegal_names[] = {
    "mret",   "sret",       "uret",      "dret",          "sfence.vma", "zeros", "ones",
    "custom", "load-float", "add-float", "load-reserved", "atomic-add", "system"};
static const char *const harmless_names[] = {"wfi", "fence.i", "fence"};

static bool run_words(const uint32_t *table, uint32_t index) {
    jump((uintptr_t)(table + 2 * index));
    return false;
}

static bool read_csr(uint32_t index, uint32_t object) {
    (void)object;
    return run_words(csr_reads, index);
}

static bool write_csr(uint32_t index, uint32_t object) {
    (void)object;
    return run_words(csr_writes, index);
}

static bool run_illegal(uint32_t index, uint32_t object) {
    (void)object;
    return run_words(illegal_words, index);
}

static bool run_harmless(uint32_t index, uint32_t object) {
    (void)object;
    run_words(harmless_words, index);
    return true;
}

static bool run_breakpoint(uint32_t index, uint32_t object) {
    (void)object;
    if (index)
        __asm__ volatile(".option push\n.option norvc\nebreak\n.option pop");
    else
        __asm__ volatile("c.ebreak");
    return false;
}

/* Words that start inside and end outside, or are not aligned. */
static const char *const load_names[] = {"across-break",    "across-flash-end", "across-ram-start",
                                         "odd-kernel-word", "behind-lent",      "taken-back"};
static bool load_across(uint32_t which, uint32_t object) {
    (void)object;
    switch (which) {
    case 0:
        return load(place_address(BREAK) - 2, 0);
    case 1:
        return load(place_address(FLASH_BEHIND) - 1, 0);
    case 2:
        return load(place_address(RAM_BEFORE) + 2, 0);
    case 3:
        return load(0x10001261, 0);
    case 4:
        return load((uintptr_t)(ask(1, LEND) + 1), 0);
    default: {
        volatile struct lent *lent = ask(0, LEND);
        (void)lent->rounds; /* allowed */
        ask(0, TAKE_BACK);
        return load((uintptr_t)lent, 0);
    }
    }
}

static const char *const store_names[] = {"across-break", "own-flash",   "own-header",
                                          "before-lent",  "behind-lent", "across-ram-start"};
static bool store_across(uint32_t which, uint32_t object) {
    static const uint32_t constant = 5;
    (void)object;
    switch (which) {
    case 0:
        return store(place_address(BREAK) - 2, 0);
    case 1:
        return store((uintptr_t)&constant, 0);
    case 2:
        return store(place_address(FLASH_BEFORE) + 4, 0);
    case 3:
        return store((uintptr_t)ask(0, LEND) - 4, 0);
    case 4:
        return store((uintptr_t)(ask(0, LEND) + 1), 0);
    default:
        return store(place_address(RAM_BEFORE) + 2, 0);
    }
}

static uint32_t deep(uint32_t levels) {
    volatile uint32_t frame[64];
    frame[0] = levels;
    return levels ? deep(levels - 1) + frame[0] : 0;
}

static const char *const recursion_names[] = {"deep"};
static bool recurse(uint32_t which, uint32_t object) {
    (void)which, (void)object;
    return deep(0xffffffff) == 0;
}

static const char *const jump_names[] = {"own-stack", "own-data", "lent", "last-halfword"};
static bool jump_to(uint32_t which, uint32_t object) {
    static uint32_t data[2] = {0x00008067, 0x00008067}; /* would return */
    uint32_t stacked[2] = {0x00008067, 0x00008067};
    (void)object;
    switch (which) {
    case 0:
        return execute((uintptr_t)stacked, 0);
    case 1:
        return execute((uintptr_t)data, 0);
    case 2:
        return execute((uintptr_t)ask(0, LEND), 0);
    default:
        return execute(0xfffffffe, 0);
    }
}

/* An app that never yields does not block others. */
static const char *const hog_names[] = {"core"};
static bool hog(uint32_t which, uint32_t object) {
    (void)which, (void)object;
    volatile struct lent *lent = ask(0, LEND);
    uint32_t before = lent->rounds;
    spin(milliseconds(20));
    return lent->rounds > before + 2;
}

#define LENGTH(table) (sizeof(table) / sizeof *(table))
#define ON_PLACES(name, cause, act)                                                                \
    { name, cause, act, PLACES, true, 0 }
#define ON(name, cause, act, objects)                                                              \
    { name, cause, act, LENGTH(objects), false, objects }

static const char *const breakpoint_names[] = {"short", "long"};

const struct verb verbs[] = {
    ON_PLACES("read", LOAD_FAULT, load),
    ON_PLACES("write", STORE_FAULT, store),
    ON_PLACES("execute", FETCH_FAULT, execute),
    ON("load", LOAD_FAULT, load_across, load_names),
    ON("store", STORE_FAULT, store_across, store_names),
    ON("jump", FETCH_FAULT, jump_to, jump_names),
    ON("recurse", STORE_FAULT, recurse, recursion_names),
    ON("read-csr", ILLEGAL, read_csr, csr_read_names),
    ON("write-csr", ILLEGAL, write_csr, csr_write_names),
    ON("instruction", ILLEGAL, run_illegal, illegal_names),
    ON("breakpoint", BREAKPOINT, run_breakpoint, breakpoint_names),
    ON("harmless", NO_FAULT, run_harmless, harmless_names),
    ON_PLACES("allow-rw", NO_FAULT, try_allow_rw),
    ON_PLACES("allow-ro", NO_FAULT, try_allow_ro),
    ON_PLACES("share", NO_FAULT, try_share),
    ON_PLACES("ipc-name", NO_FAULT, try_name),
    ON_PLACES("subscribe", NO_FAULT, try_subscribe),
    ON_PLACES("break", NO_FAULT, try_break),
    ON_PLACES("yield-flag", NO_FAULT, try_flag),
    ON_PLACES("call-with-stack", NO_FAULT, try_stack),
    {"call", NO_FAULT, try_call, N_CALLS, false, call_names},
    ON("hog", NO_FAULT, hog, hog_names),
};
const uint32_t n_verbs = LENGTH(verbs);
