/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The app ipc: the cost of notifying, responding, copying, sharing and finding. This app is the
 * client of ipc_server.c; exchange.h has their protocol.
 *
 * The first app in flash runs first. In one boot that is the server, in one this client. So each
 * direction is measured towards the process that takes over at once; the way back is also measured
 * when the server has to yield first, as in the study.
 */
#include "exchange.h"

static struct exchange shared;
static uint32_t server;           /* the server's number */
static uint32_t role = ECHO;      /* the server's current role */
static uint32_t counter;          /* version 1: the counter that is being measured */
static volatile uint32_t answers; /* in this exchange */
static struct reading answered;   /* the time of the first answer */

static void on_answer(uint32_t service, uint32_t length, uint32_t address, void *userdata) {
    struct reading now = take_reading(counter);
    (void)service, (void)length, (void)address, (void)userdata;
    if (!answers)
        answered = now;
    answers = answers + 1;
}

/* Make an exchange. `sent` is its start, read right before the notification. */
static bool exchange(struct tm_run *run, struct reading *sent) {
    uint32_t expected = role == SEND ? 2 : 1;
    answers = 0;
    shared.seen = 0;
    shared.good = 0;
    shared.seq++;
    struct reading now = take_reading(counter);
    struct tock_return notified = tm_ipc_notify_service(server);
    *sent = now;
    if (!tm_require(run, "ipc_notify", notified))
        return false;
    while (answers < expected)
        tock_yield_wait();
    return true;
}

/* Make the server play a role from the next exchange on. */
static bool ask_for(struct tm_run *run, uint32_t next) {
    struct reading sent;
    shared.role = next;
    shared.counter = counter;
    if (!exchange(run, &sent))
        return false;
    role = next;
    return true;
}

/* Connect, once, when the server has had time to register. */
static bool connect(struct tm_run *run) {
    static bool connected;
    if (connected)
        return true;
    struct tock_return peer = tm_peer_find(SERVER_NAME, 1);
    if (!tm_require(run, "ipc_discover", peer))
        return false;
    server = peer.word[0];
    connected = tm_require(run, "ipc_subscribe", tm_ipc_listen(server, on_answer)) &&
                tm_require(run, "ipc_share", tm_ipc_share(server, &shared, sizeof shared));
    return connected;
}

static bool setup_to_server(struct tm_run *run) { return connect(run) && ask_for(run, STAMP); }
static bool setup_to_client(struct tm_run *run) { return connect(run) && ask_for(run, SEND); }
static bool setup_round_trip(struct tm_run *run) { return connect(run) && ask_for(run, ECHO); }

/* In version 1, inform the server when the pass over the other counter begins. */
static bool before(struct tm_run *run) {
    uint32_t wanted = counter_of(run);
    if (counter == wanted)
        return true;
    counter = wanted;
    return ask_for(run, role);
}

/* Record a sample. A negative one contains a reading of another exchange. */
static bool put(struct tm_run *run, struct reading from, struct reading to) {
    put_sample(run, from, to);
    return run->shot.cycles < 1u << 31 || tm_fail(run, "timestamp", "STALE");
}

static bool stamped(struct tm_run *run) {
    return shared.seen == shared.seq || tm_fail(run, "timestamp", "UNSET");
}

static bool sample_to_server(struct tm_run *run) {
    struct reading sent;
    return exchange(run, &sent) && stamped(run) && put(run, sent, shared.at);
}

static bool sample_to_client(struct tm_run *run) {
    struct reading sent;
    return exchange(run, &sent) && stamped(run) && put(run, shared.at, answered);
}

static bool sample_round_trip(struct tm_run *run) {
    struct reading sent;
    return exchange(run, &sent) && put(run, sent, answered);
}

/* Fill the payload with words that differ from each other and between sizes. */
static bool setup_bandwidth(struct tm_run *run) {
    shared.size = run->value[0];
    for (uint32_t i = 0; i < shared.size / 4; i++)
        shared.payload[i] = 0x9e3779b9 * (i + 1) ^ shared.size;
    return connect(run) && ask_for(run, COPY);
}

static bool before_bandwidth(struct tm_run *run) {
    shared.payload[0] = shared.payload[shared.size / 4 - 1] = shared.seq;
    return before(run);
}

static bool sample_bandwidth(struct tm_run *run) {
    return sample_to_server(run) && tm_verify(run, shared.good);
}

static bool finish_bandwidth(struct tm_run *run) {
    struct reading sent;
    shared.check = true;
    bool checked = exchange(run, &sent) && tm_verify(run, shared.good);
    shared.check = false;
    return checked;
}

/* The bodies below leave the kernel's result to the harness. */
static uint32_t allow(void *memory, uint32_t length) {
#if TM_ABI == 1
    return tock_call(TOCK_ALLOW, TOCK_IPC, server, (uintptr_t)memory, length);
#else
    return tock_allow_rw(TOCK_IPC, server, memory, length).variant;
#endif
}

static uint32_t share(void *buffer) { return allow(buffer, sizeof shared); }
static uint32_t unshare(void *nothing) { return allow(nothing, 0); }

static bool setup_share(struct tm_run *run) {
    run->shot.arg = run->shot.body == share ? &shared : 0;
    return connect(run);
}

static bool before_share(struct tm_run *run) {
    return tm_require(run, "ipc_unshare", tm_ipc_share(server, 0, 0));
}

static bool before_unshare(struct tm_run *run) {
    return tm_require(run, "ipc_share", tm_ipc_share(server, &shared, sizeof shared));
}

/* The parts of a search that hits. A search that misses has some of them. */
enum {
    ALL = TM_INDEX_ipc_discover_hit_part_all,
    BY_COMMAND = TM_INDEX_ipc_discover_hit_part_command,
    BY_ALLOW = TM_INDEX_ipc_discover_hit_part_allow,
};
_Static_assert(TM_INDEX_ipc_discover_miss_part_all == ALL, "one order");
_Static_assert(TM_INDEX_ipc_discover_miss_part_command == BY_COMMAND, "one order");

/* The names to find. They are in RAM, which version 1 requires. */
struct name {
    char *text;
    uint32_t length;
};

#if TM_ABI == 1
static uint32_t find(void *arg) {
    const struct name *name = arg;
    return tock_call(TOCK_ALLOW, TOCK_IPC, 0, (uintptr_t)name->text, name->length);
}
static tm_body *const find_parts[] = {[ALL] = find, [BY_COMMAND] = 0, [BY_ALLOW] = 0};
#else
static uint32_t find_allow(void *arg) {
    const struct name *name = arg;
    return tock_allow_ro(TOCK_IPC, 0, name->text, name->length).variant;
}

static uint32_t find_command(void *arg) {
    (void)arg;
    return tock_command(TOCK_IPC, 1, 0, 0).variant;
}

static uint32_t find(void *arg) {
    find_allow(arg);
    return find_command(arg);
}
static tm_body *const find_parts[] = {
    [ALL] = find,
    [BY_COMMAND] = find_command,
    [BY_ALLOW] = find_allow,
};
#endif

static bool setup_find(struct tm_run *run, char *text, uint32_t length) {
    static struct name name;
    name = (struct name){text, length};
    if (!find_parts[run->value[0]])
        return tm_skip(run, "version 1 finds a service by one allow");
    run->shot.body = find_parts[run->value[0]];
    run->shot.arg = &name;
    tm_ipc_find(text, length); /* the command alone uses the name that was allowed before */
    return connect(run);
}

static bool setup_hit(struct tm_run *run) {
    static char name[] = SERVER_NAME;
    return setup_find(run, name, sizeof name - 1);
}

static bool setup_miss(struct tm_run *run) {
    static char name[] = "ipc_nobody";
    return setup_find(run, name, sizeof name - 1);
}

static bool finish_hit(struct tm_run *run) {
    struct tock_return process = tock_returned(run->shot.result);
    if (tock_failed(process))
        return tm_fail_with(run, "ipc_discover", process);
    return tm_verify(run, run->value[0] == BY_ALLOW || process.word[0] == server);
}

static bool finish_miss(struct tm_run *run) {
    return tm_verify(run, tock_failed(tock_returned(run->shot.result)));
}

TM_BENCH(ipc_client_to_server, .setup = setup_to_server, .before = before,
         .sample = sample_to_server);
TM_BENCH(ipc_server_to_client, .setup = setup_to_client, .before = before,
         .sample = sample_to_client);
TM_BENCH(ipc_server_to_client_late, .setup = setup_to_server, .before = before,
         .sample = sample_to_client);
TM_BENCH(ipc_round_trip, .setup = setup_round_trip, .before = before, .sample = sample_round_trip);
/* The finish hook checks the result of a search. */
TM_BENCH(ipc_discover_hit, .returns_any = true, .setup = setup_hit, .finish = finish_hit);
TM_BENCH(ipc_discover_miss, .returns_any = true, .setup = setup_miss, .finish = finish_miss);
TM_BENCH(ipc_bandwidth, .setup = setup_bandwidth, .before = before_bandwidth,
         .sample = sample_bandwidth, .finish = finish_bandwidth);
TM_BENCH(ipc_share, .body = share, .expect = TM_BY_ABI(0, TOCK_SUCCESS_U32_U32), .call = "allow",
         .setup = setup_share, .before = before_share);
TM_BENCH(ipc_unshare, .body = unshare, .expect = TM_BY_ABI(0, TOCK_SUCCESS_U32_U32),
         .call = "allow", .setup = setup_share, .before = before_unshare, .finish = before_unshare);
TM_APP(ipc);
