/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The app mem: what RAM costs. The bodies are in asm/mem.S. */
#include "bench.h"

enum { NODES = 500, STRIDE_MAX = 64, COPY_MAX = 4096 };

struct node {
    struct node *next;
};

/* The rows take turns with this memory; each sets it up anew. */
static union {
    _Alignas(64) uint8_t list[NODES * STRIDE_MAX];
    struct {
        uint32_t from[COPY_MAX / 4];
        uint32_t to[COPY_MAX / 4];
    } copy;
} memory;

static struct node *node(const struct tm_run *run, uint32_t index) {
    return (struct node *)(void *)&memory.list[index * run->value];
}

/* The nodes follow one another at the stride; each points to the next. */
static bool setup_list(struct tm_run *run) {
    for (uint32_t i = 0; i < NODES; i++)
        node(run, i)->next = i + 1 < NODES ? node(run, i + 1) : 0;
    run->shot.arg = node(run, 0);
    return true;
}

/* That the walk came to the end is what its body returned; that the list has all its nodes: */
static bool finish_list(struct tm_run *run) {
    uint32_t nodes = 0;
    for (const struct node *at = run->shot.arg; at; at = at->next)
        nodes++;
    return tm_verify(run, nodes == NODES);
}

/* The source differs from word to word, the destination from the source. */
static bool setup_copy(struct tm_run *run) {
    static struct tm_copy copy;
    uint32_t words = run->value / 4;
    for (uint32_t i = 0; i < words; i++) {
        memory.copy.from[i] = 0x9e3779b9 * (i + 1);
        memory.copy.to[i] = ~memory.copy.from[i];
    }
    copy = (struct tm_copy){memory.copy.to, memory.copy.from, memory.copy.from + words};
    run->shot.arg = &copy;
    run->expect = (uintptr_t)(memory.copy.to + words);
    return true;
}

static bool finish_copy(struct tm_run *run) {
    bool equal = true;
    for (uint32_t i = 0; i < run->value / 4; i++)
        equal = equal && memory.copy.to[i] == 0x9e3779b9 * (i + 1);
    return tm_verify(run, equal);
}

static const struct tm_bench benches[] = {
    {
        .id = "mem.latency",
        .samples = 1000,
        .inner = NODES,
        .body = tm_list_walk,
        .param = "stride",
        TM_VALUES(16, 32, 64),
        .setup = setup_list,
        .finish = finish_list,
    },
    {
        .id = "mem.copy_asm",
        .samples = 1000,
        .inner = 1,
        .body = tm_copy_words,
        .param = "size",
        TM_VALUES(32, 64, 128, 256, 512, 1024, 2048, 4096),
        .setup = setup_copy,
        .finish = finish_copy,
    },
};

const struct tm_app tm_app = {.name = "mem", TM_BENCHES(benches)};
