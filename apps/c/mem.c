/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The app mem: the cost of RAM. The bodies in assembly are in asm/mem.S; here are their compiled
 * twins, which show the compiler's part.
 */
#include <string.h>

#include "bench.h"

/* Loops that copy or fill must stay loops: without this the compiler would call memcpy. */
#pragma GCC optimize("no-tree-loop-distribute-patterns")

#define NODES TM_INNER_mem_latency
#define BYTES TM_INNER_mem_read_byte
#define AREA_MAX (2 * TM_MAX_mem_copy_asm_size)

TM_HEAP(32832); /* AREA_MAX, and room to align it to 64 */
_Static_assert(BYTES == TM_INNER_mem_write_byte, "one area serves both");
_Static_assert(AREA_MAX + 64 == 32832, "the heap is what the largest copy takes");

/* All rows use this memory; each sets it up again. */
static uint8_t *area;
static struct tm_span span;

static bool has_area(struct tm_run *run, uint32_t bytes) {
    static uint32_t length;
    for (uint32_t size = AREA_MAX; !area && size; size -= 1024) {
        uint8_t *memory = tock_more_ram(size + 64);
        if (memory) {
            area = memory + (-(uintptr_t)memory & 63);
            length = size;
        }
    }
    return bytes <= length || tm_skip(run, "too little RAM is left for an app");
}

struct node {
    struct node *next;
};

static struct node *node(const struct tm_run *run, uint32_t index) {
    return (struct node *)(void *)&area[index * run->value[0]];
}

/* Link nodes that are `stride` bytes apart; each points to the next one. */
static bool setup_list(struct tm_run *run) {
    if (!has_area(run, NODES * run->value[0]))
        return false;
    for (uint32_t i = 0; i < NODES; i++)
        node(run, i)->next = i + 1 < NODES ? node(run, i + 1) : 0;
    run->shot.arg = node(run, 0);
    return true;
}

/* The body's result shows that the walk reached the end; this checks that the list has all its
 * nodes. */
static bool finish_list(struct tm_run *run) {
    uint32_t nodes = 0;
    for (const struct node *at = run->shot.arg; at; at = at->next)
        nodes++;
    return tm_verify(run, nodes == NODES);
}

/* Return a word that is different for each index, and never 0. */
static uint32_t pattern(uint32_t index) { return 0x9e3779b9 * (2 * index + 1); }

/* Fill `words` words with the pattern or its complement. Unrolled, like the check: otherwise they
 * would take more of a run than the measurement. */
static void fill(uint32_t *to, uint32_t words, uint32_t flip) {
#pragma GCC unroll 8
    for (uint32_t i = 0; i < words; i++)
        to[i] = pattern(i) ^ flip;
}

/* Words with the pattern, for a row to read or to overwrite. */
static bool setup_words(struct tm_run *run) {
    uint32_t words = run->value[0] / 4;
    if (!has_area(run, run->value[0]))
        return false;
    span = (struct tm_span){0, (uint32_t *)(void *)area, (uint32_t *)(void *)area + words};
    fill(span.from, words, 0);
    run->shot.arg = &span;
    return true;
}

/* In addition a destination after them, in which each word differs from the one to be copied there.
 */
static bool setup_copy(struct tm_run *run) {
    if (!has_area(run, 2 * run->value[0]) || !setup_words(run))
        return false;
    span.to = span.from_end;
    fill(span.to, run->value[0] / 4, ~0U);
    run->expect = (uintptr_t)span.to + run->value[0];
    return true;
}

/* 32 bytes are copied without a loop, as in the study. */
static bool setup_copy_asm(struct tm_run *run) {
    if (!setup_copy(run))
        return false;
    if (run->value[0] == 32) {
        run->shot.body = tm_copy_8_words;
        run->shot.arg = span.from;
        run->expect = (uintptr_t)span.from;
    }
    return true;
}

static bool finish_copy(struct tm_run *run) {
    uint32_t wrong = 0, words = run->value[0] / 4;
    const uint32_t *to = span.to;
#pragma GCC unroll 8
    for (uint32_t i = 0; i < words; i++)
        wrong |= to[i] ^ pattern(i);
    return tm_verify(run, !wrong);
}

static bool setup_sum(struct tm_run *run) {
    if (!setup_words(run))
        return false;
    uint32_t n = run->value[0] / 4;
    run->expect = 0x9e3779b9 * n * n; /* the sum of the first n odd numbers is n * n */
    return true;
}

static bool setup_read(struct tm_run *run) {
    run->expect = pattern(run->value[0] / 4 - 1);
    return setup_words(run);
}

static bool finish_write(struct tm_run *run) {
    uint32_t left = 0, words = run->value[0] / 4;
    const uint32_t *from = span.from;
#pragma GCC unroll 8
    for (uint32_t i = 0; i < words; i++)
        left |= from[i];
    return tm_verify(run, !left);
}

/* Bytes 0, 1, 2, … 255, 0, …: the last one of BYTES is 255. */
static bool setup_bytes(struct tm_run *run) {
    if (!has_area(run, BYTES))
        return false;
    for (uint32_t i = 0; i < BYTES; i++)
        area[i] = (uint8_t)i;
    run->shot.arg = area;
    return true;
}

static bool setup_write_bytes(struct tm_run *run) {
    if (!setup_bytes(run))
        return false;
    run->expect = (uintptr_t)area + BYTES;
    return true;
}

static bool finish_write_bytes(struct tm_run *run) {
    uint32_t left = 0;
    for (uint32_t i = 0; i < BYTES; i++)
        left |= area[i];
    return tm_verify(run, !left);
}

/* The last misaligned word contains the last bytes: the one `offset` bytes before the end. */
static bool setup_straddling(struct tm_run *run) {
    uint32_t offset = run->value[0];
    if (!has_area(run, BYTES + 4))
        return false;
    for (uint32_t i = 0; i < BYTES + 4; i++)
        area[i] = (uint8_t)i;
    run->shot.arg = area + offset;
    memcpy(&run->expect, area + offset + 4 * (TM_INNER_mem_misaligned - 1), 4);
    return true;
}

/* The compiled twins. Each returns the same as its twin in assembly, except the sum. */
static uint32_t copy_memcpy(void *arg) {
    const struct tm_span *s = arg;
    uint32_t size = (uint32_t)((uintptr_t)s->from_end - (uintptr_t)s->from);
    return (uintptr_t)memcpy(s->to, s->from, size) + size;
}

static uint32_t copy_loop(void *arg) {
    const struct tm_span *s = arg;
    uint32_t *restrict to = s->to;
    const uint32_t *restrict from = s->from;
    const uint32_t *end = s->from_end;
    do
        *to++ = *from++;
    while (from != end);
    return (uintptr_t)to;
}

static uint32_t read_sum(void *arg) {
    const struct tm_span *s = arg;
    uint32_t sum = 0;
    for (const uint32_t *from = s->from, *end = s->from_end; from != end; from++)
        sum += *from;
    return sum;
}

static uint32_t write_const(void *arg) {
    const struct tm_span *s = arg;
    for (uint32_t *from = s->from, *end = s->from_end; from != end; from++)
        *from = 0;
    return 0;
}

/* Events are counted up to 256 bytes: each further size doubles them. */
#define ROW(row, its_body, its_setup, its_finish)                                                  \
    TM_BENCH(row, .body = its_body, .setup = its_setup, .finish = its_finish, .events_to = 256)

TM_BENCH(mem_latency, .body = tm_list_walk, .setup = setup_list, .finish = finish_list);
ROW(mem_copy_memcpy, copy_memcpy, setup_copy, finish_copy);
ROW(mem_copy_loop, copy_loop, setup_copy, finish_copy);
TM_BENCH(mem_copy_plain); /* only in Rust */
ROW(mem_copy_asm, tm_copy_words, setup_copy_asm, finish_copy);
ROW(mem_read_sum, read_sum, setup_sum, 0);
ROW(mem_read_asm, tm_read_words, setup_read, 0);
ROW(mem_write_const, write_const, setup_words, finish_write);
ROW(mem_write_asm, tm_write_words, setup_words, finish_write);
TM_BENCH(mem_read_byte, .body = tm_read_bytes, .expect = 255, .setup = setup_bytes);
TM_BENCH(mem_write_byte, .body = tm_write_bytes, .setup = setup_write_bytes,
         .finish = finish_write_bytes);
TM_BENCH(mem_misaligned, .body = tm_read_straddling, .setup = setup_straddling);
TM_APP(mem);
