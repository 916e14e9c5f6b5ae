/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The app ipc2: the cost of the newer IPC, in which the kernel copies a client's request and a
 * server's response. This app is the client of ipc2_server.c; orders.h has their protocol. The
 * first app in flash runs first: in one boot that is the server, in the others this client.
 */
#include "bench.h"
#include "peer.h"

#include <string.h>

#if TM_ABI == 2
#include "orders.h"

#define TRIES 40 /* to find another app, one millisecond each */

static uint32_t out[WORDS_MAX], in[WORDS_MAX];
static struct tm_process server;
static uint32_t seq;

static bool find(struct tm_run *run, uint32_t registry, const char *name, uint32_t length,
                 struct tm_process *process) {
    struct tock_return result = tm_registry_find(registry, name, length);
    for (uint32_t i = 0; i < TRIES && tock_failed(result) && result.variant == TOCK_FAILURE; i++) {
        if (!tm_require(run, "nap", tm_nap(1)))
            return false;
        result = tm_registry_find(registry, name, length);
    }
    *process = (struct tm_process){result.word[0], result.word[1]};
    return tm_require(run, "registry_discover", result);
}

/* Connect, once, when the server has had time to register. */
static bool connect(struct tm_run *run) {
    static bool connected;
    if (!connected)
        connected = find(run, TOCK_BY_STRING, SERVER_STRING, sizeof SERVER_STRING - 1, &server);
    return connected;
}

static bool buffers(struct tm_run *run, const void *from, uint32_t length, uint32_t most) {
    return tm_require(run, "relay_out", tm_relay_out(from, length)) &&
           tm_require(run, "relay_in", tm_relay_in(in, most));
}

/* Check that the response came completely, with this many bytes. */
static bool is_answer(struct tm_run *run, struct tock_return response, uint32_t length) {
    if (response.variant)
        return tm_fail_with(run, "relay_answer",
                            (struct tock_return){TOCK_FAILURE, {response.variant, 0, 0}});
    return response.word[0] == length || tm_fail(run, "relay_answer", "WRONG_LENGTH");
}

static bool ask(struct tm_run *run, struct tm_process of, uint32_t length) {
    return tm_require(run, "relay_send", tm_relay_send(of)) &&
           is_answer(run, tm_relay_answer(), length);
}

static bool give(struct tm_run *run, struct order order) {
    static struct order given;
    given = order;
    given.mark = ORDER_MARK;
    in[0] = 0;
    return connect(run) && buffers(run, &given, sizeof given, sizeof in) &&
           ask(run, server, sizeof *in) && tm_verify(run, in[0] == OBEYED);
}

/* Fill the request with words that differ from each other and between sizes. */
static void fill(uint32_t size) {
    for (uint32_t i = 0; i < size / 4; i++)
        out[i] = 0x9e3779b9 * (i + 1) ^ size;
}

/* Change its ends from sample to sample. */
static void touch(uint32_t size) {
    if (size)
        out[0] = out[size / 4 - 1] = ++seq;
}

static bool setup_echo(struct tm_run *run, uint32_t size) {
    fill(size);
    return give(run, (struct order){.task = ECHO, .size = size}) && buffers(run, out, size, size);
}

static bool setup_stamp(struct tm_run *run, uint32_t size, bool check) {
    return give(run, (struct order){.task = STAMP, .check = check}) &&
           buffers(run, out, size, sizeof(struct note));
}

static bool sample_echo(struct tm_run *run, uint32_t size) {
    uint32_t last = size ? size / 4 - 1 : 0;
    touch(size);
    in[0] = in[last] = 0;
    struct reading sent = take_reading(0);
    struct tock_return asked = tm_relay_send(server);
    if (!tm_require(run, "relay_send", asked))
        return false;
    struct tock_return response = tm_relay_answer();
    struct reading answered = take_reading(0);
    put_sample(run, sent, answered);
    return is_answer(run, response, size) &&
           tm_verify(run, !size || (in[0] == out[0] && in[last] == out[last]));
}

static bool finish_echo(struct tm_run *run, uint32_t size) {
    memset(in, 0, size);
    return ask(run, server, size) && tm_verify(run, !memcmp(in, out, size));
}

static bool is_noted(struct tm_run *run, uint32_t size, bool check) {
    const struct note *note = (const void *)in;
    return tm_verify(run, note->length == size && note->sum == sum_of(out, size / 4, check));
}

/* A negative sample contains a reading of another request. */
static bool sample_stamp(struct tm_run *run, uint32_t size) {
    const struct note *note = (const void *)in;
    touch(size);
    memset(in, 0, sizeof *note);
    struct reading sent = take_reading(0);
    if (!ask(run, server, sizeof *note) || !is_noted(run, size, false))
        return false;
    put_sample(run, sent, note->at);
    return run->shot.cycles < 1u << 31 || tm_fail(run, "timestamp", "STALE");
}

static bool setup_round_trip(struct tm_run *run) { return setup_echo(run, run->value[0]); }
static bool sample_round_trip(struct tm_run *run) { return sample_echo(run, run->value[0]); }
static bool finish_round_trip(struct tm_run *run) { return finish_echo(run, run->value[0]); }

static bool setup_request(struct tm_run *run) { return setup_stamp(run, 0, false); }
static bool sample_request(struct tm_run *run) { return sample_stamp(run, 0); }

static bool setup_bandwidth(struct tm_run *run) {
    fill(run->value[0]);
    return setup_stamp(run, run->value[0], false);
}

static bool sample_bandwidth(struct tm_run *run) { return sample_stamp(run, run->value[0]); }

static bool finish_bandwidth(struct tm_run *run) {
    return setup_stamp(run, run->value[0], true) && ask(run, server, sizeof(struct note)) &&
           is_noted(run, run->value[0], true);
}

enum { SET_SIZE = 64, PASSED = 0x5eed };

static bool setup_set(struct tm_run *run) { return setup_echo(run, SET_SIZE); }
static bool finish_set(struct tm_run *run) { return finish_echo(run, SET_SIZE); }

/* Run this many KiB of 4-byte NOPs. */
static bool before_set(struct tm_run *run) {
    uintptr_t start = (uintptr_t)tm_nops_4_end - 1024 * run->value[0];
    return tm_verify(run, ((tm_body *)start)((void *)PASSED) == PASSED);
}

static bool sample_set(struct tm_run *run) { return sample_echo(run, SET_SIZE); }

/* Start the rivals, once: they get the id of the server. */
static struct tm_process rivals[RIVALS];

static bool start_rivals(struct tm_run *run) {
    static char name[] = RIVAL_PACKAGE "2";
    static struct go go;
    static uint32_t started;
    go.server = server;
    for (; started < RIVALS; started++) {
        uint32_t length = sizeof name - 2 + (started > 0);
        if (!find(run, TOCK_BY_PACKAGE, name, length, &rivals[started]) ||
            !buffers(run, &go, sizeof go, 0) || !ask(run, rivals[started], 0))
            return false;
    }
    return true;
}

/* The server takes the sender of its first order for its client, so the rivals start after that. */
static bool setup_served(struct tm_run *run) { return setup_echo(run, 0) && start_rivals(run); }

static bool sample_served(struct tm_run *run) {
    uint32_t client = run->value[0];
    uint32_t of = client ? rivals[client - 1].low : WHO_ORDERS;
    const struct score *score = (const void *)in;
    struct tock_return response;
    if (!give(run, (struct order){.task = CONTEST, .of = of, .answers = TM_INNER_ipc2_served}) ||
        !buffers(run, 0, 0, sizeof *score))
        return false;
    do {
        if (!tm_require(run, "relay_send", tm_relay_send(server)))
            return false;
        response = tm_relay_answer();
    } while (!response.variant && !response.word[0]);
    if (!is_answer(run, response, sizeof *score))
        return false;
    put_sample(run, score->from, score->to);
    return score->enough || tm_skip(run, "others had 48 answers first");
}

/* The parts of a search that are measured. The kernel keeps their names. */
enum {
    BY_STRING = TM_INDEX_ipc2_discover_by_string,
    HIT = TM_INDEX_ipc2_discover_found_hit,
};
_Static_assert(TM_INDEX_ipc2_register_by_string == BY_STRING, "one order");

struct search {
    const char *name;
    uint32_t length;
};

/* The process that a search has found. */
static struct tm_process found;

static inline __attribute__((always_inline)) uint32_t asked(uint32_t registry, uint32_t command) {
    struct tock_return process = tm_registry_asked(registry, command);
    found = (struct tm_process){process.word[0], process.word[1]};
    return process.variant;
}

static uint32_t find_string(void *arg) {
    const struct search *search = arg;
    tm_registry_name(TOCK_BY_STRING, search->name, search->length);
    return asked(TOCK_BY_STRING, TOCK_DISCOVER);
}

static uint32_t find_package(void *arg) {
    const struct search *search = arg;
    tm_registry_name(TOCK_BY_PACKAGE, search->name, search->length);
    return asked(TOCK_BY_PACKAGE, TOCK_DISCOVER);
}

static bool setup_discover(struct tm_run *run) {
    static const struct search searches[2][2] = {
        {{SERVER_STRING, sizeof SERVER_STRING - 1}, {"tockmark ipc2 nobody", 20}},
        {{SERVER_PACKAGE, sizeof SERVER_PACKAGE - 1}, {"ipc2_nobody", 11}},
    };
    bool by_string = run->value[0] == BY_STRING, hit = run->value[1] == HIT;
    run->shot.body = by_string ? find_string : find_package;
    run->shot.arg = (void *)&searches[by_string ? 0 : 1][hit ? 0 : 1];
    run->expect = hit ? TOCK_SUCCESS_U32_U32 : TOCK_FAILURE;
    return connect(run);
}

static bool finish_discover(struct tm_run *run) {
    bool right = found.low == server.low && found.high == server.high;
    return tm_verify(run, run->value[1] == HIT ? right : found.low == TOCK_NODEVICE);
}

static uint32_t register_string(void *arg) {
    (void)arg;
    tm_registry_name(TOCK_BY_STRING, "tockmark ipc2 client", 20);
    return asked(TOCK_BY_STRING, TOCK_REGISTER);
}

static uint32_t register_package(void *arg) {
    (void)arg;
    return asked(TOCK_BY_PACKAGE, TOCK_REGISTER);
}

static bool setup_register(struct tm_run *run) {
    run->shot.body = run->value[0] == BY_STRING ? register_string : register_package;
    return connect(run);
}

TM_BENCH(ipc2_register, .expect = TOCK_SUCCESS_U32_U32, .setup = setup_register);
TM_BENCH(ipc2_discover, .setup = setup_discover, .finish = finish_discover);
TM_BENCH(ipc2_request, .setup = setup_request, .sample = sample_request);
TM_BENCH(ipc2_round_trip, .setup = setup_round_trip, .sample = sample_round_trip,
         .finish = finish_round_trip);
TM_BENCH(ipc2_round_trip_late, .setup = setup_round_trip, .sample = sample_round_trip,
         .finish = finish_round_trip);
TM_BENCH(ipc2_bandwidth, .setup = setup_bandwidth, .sample = sample_bandwidth,
         .finish = finish_bandwidth);
TM_BENCH(ipc2_working_set, .setup = setup_set, .before = before_set, .sample = sample_set,
         .finish = finish_set);
TM_BENCH(ipc2_served, .setup = setup_served, .sample = sample_served);
#else
TM_BENCH(ipc2_register);
TM_BENCH(ipc2_discover);
TM_BENCH(ipc2_request);
TM_BENCH(ipc2_round_trip);
TM_BENCH(ipc2_round_trip_late);
TM_BENCH(ipc2_bandwidth);
TM_BENCH(ipc2_working_set);
TM_BENCH(ipc2_served);
#endif
TM_APP(ipc2);
