/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The app crypto: the cost of crypto in this app, in a service app with the old IPC
 * (crypto_server.c) or the new IPC (crypto_relay.c), and in the kernel. A sample is one call, from
 * request to answer, and all ways run the same code (crypto/job.h). Buffers stay shared from call
 * to call, except when the driver is used like Tock's drivers, with four crossings: allow, command,
 * yield and allow again. The other way to use it takes one crossing.
 */
#include "program.h"

#include "crypto/job.h"
#include "ipc.h"
#include "peer.h"
#include "relay.h"
#include <string.h>

#define SERVICE "tockmark crypto svc." /* 20 letters */
#define CIPHERTEXT 1088
#define TRIES 40

/* The driver of the baseline's variant `crypto`: kernel/src/drivers/crypto.rs. */
#define DRIVER 0x90020
#define DRIVER_START 1
#define DRIVER_DO 2

static struct job job;
static uint8_t ciphertext[CIPHERTEXT];
static uint32_t server;
static struct tm_process service;

/* A sum of the ciphertext, and the tag, by RFC 8439 from the text, key and nonce of `prepare`
 * (lab/tests/test_crypto.py computes them with its own code). */
static const struct known {
    uint32_t size, sum;
    uint8_t tag[16];
} known_seals[] = {
#include "crypto/known.inc"
};

/* The shared secret of c/mlkem.c. */
static const uint8_t known_secret[32] = {
    0x9c, 0xdd, 0xd0, 0x89, 0xff, 0xe7, 0x0e, 0x39, 0x96, 0xe7, 0x6f, 0x7c, 0x8d, 0x06, 0x74, 0x6d,
    0xf3, 0x4d, 0x07, 0xe8, 0x65, 0x7b, 0xc0, 0xfc, 0xf2, 0xbb, 0x0e, 0x1c, 0x30, 0x84, 0xae, 0xa1,
};

/* The ways: each is a body, which returns the job's status. */
static uint32_t by_app(void *arg) {
    (void)arg;
    tm_crypto(&job);
    return job.status;
}

static volatile uint32_t answers;

static void on_answer(uint32_t from, uint32_t length, uint32_t address, void *userdata) {
    (void)from, (void)length, (void)address, (void)userdata;
    answers = 1;
}

static uint32_t by_ipc(void *arg) {
    (void)arg;
    answers = 0;
    if (tock_failed(tm_ipc_notify_service(server)))
        return JOB_WRONG;
    while (!answers)
        tock_yield_wait();
    return ((volatile struct job *)&job)->status;
}

static uint32_t by_relay(void *arg) {
    (void)arg;
    if (tock_failed(tm_relay_send(service)))
        return JOB_WRONG;
    struct tock_return told = tm_relay_answer();
    return told.variant ? told.variant : job.status;
}

static uint32_t share(uint32_t length) {
    return tock_failed(tock_allow_rw(DRIVER, 0, length ? &job : 0, length)) ? JOB_WRONG : 0;
}

static uint32_t by_driver(void *arg) {
    uint32_t wrong = share((uint32_t)(uintptr_t)arg);
    if (wrong || tock_failed(tock_command(DRIVER, DRIVER_START, 0, 0)))
        return JOB_WRONG;
    struct tock_return told = tock_yield_wait_for(DRIVER, 0);
    return share(0) | told.variant | job.status;
}

static uint32_t by_command(void *arg) {
    (void)arg;
    return tock_failed(tock_command(DRIVER, DRIVER_DO, 0, 0)) | job.status;
}

enum {
    APP = TM_INDEX_crypto_seal_way_app,
    IPC = TM_INDEX_crypto_seal_way_ipc,
    IPC2 = TM_INDEX_crypto_seal_way_ipc2,
    KERNEL = TM_INDEX_crypto_seal_way_driver,
};
_Static_assert(TM_INDEX_crypto_decapsulate_way_driver == KERNEL, "one order");

static tm_body *const ways[] = {
    [APP] = by_app, [IPC] = by_ipc, [IPC2] = by_relay, [KERNEL] = by_driver};

static bool find_server(struct tm_run *run) {
    struct tock_return found = tm_peer_find("crypto_server", 1);
    if (found.variant == TOCK_FAILURE && found.word[0] == TOCK_NODEVICE)
        return tm_skip(run, "this kernel has no such IPC");
    server = found.word[0];
    return tm_require(run, "ipc_discover", found) &&
           tm_require(run, "ipc_subscribe", tm_ipc_listen(server, on_answer)) &&
           tm_require(run, "ipc_share", tm_ipc_share(server, &job, sizeof job));
}

static bool find_service(struct tm_run *run) {
    if (tock_failed(tock_command(TOCK_RELAY, 0, 0, 0)))
        return tm_skip(run, "this kernel has no such IPC");
    for (uint32_t i = 0;; i++) {
        struct tock_return found = tm_registry_find(TOCK_BY_STRING, SERVICE, sizeof SERVICE - 1);
        service = (struct tm_process){found.word[0], found.word[1]};
        if (!tock_failed(found))
            return true;
        if (i == TRIES)
            return tm_require(run, "registry_discover", found);
        if (!tm_require(run, "nap", tm_nap(1)))
            return false;
    }
}

static bool find_driver(struct tm_run *run) {
    return !tock_failed(tock_command(DRIVER, 0, 0, 0)) ||
           tm_skip(run, "this kernel has no such driver");
}

/* Once: wait for the other side and make the calls that precede all jobs. */
static bool connect(struct tm_run *run, uint32_t way) {
    static bool connected;
    if (!connected)
        connected = way == APP    ? true
                    : way == IPC  ? find_server(run)
                    : way == IPC2 ? find_service(run)
                                  : find_driver(run);
    return connected;
}

/* Only a job's length is sent and returned. */
static bool give(struct tm_run *run, uint32_t way, uint32_t length) {
    uint32_t bytes = JOB_HEAD + length;
    run->shot.body = ways[way];
    run->shot.arg = (void *)(uintptr_t)bytes;
    return way != IPC2 || (tm_require(run, "relay_out", tm_relay_out(&job, bytes)) &&
                           tm_require(run, "relay_in", tm_relay_in(&job, bytes)));
}

static void prepare(uint32_t task, uint32_t length) {
    job.task = task;
    job.length = length;
    job.status = JOB_WRONG;
    memset(job.answer, 0, sizeof job.answer);
    for (uint32_t i = 0; i < sizeof job.key; i++)
        job.key[i] = (uint8_t)(0x80 + i);
    for (uint32_t i = 0; i < sizeof job.nonce; i++)
        job.nonce[i] = (uint8_t)(i < 4 ? i == 0 ? 7 : 0 : 0x3c + i);
    for (uint32_t i = 0; i < length; i++)
        job.text[i] = (uint8_t)(7 * i + length);
}

static bool is_sealed(uint32_t size) {
    const struct known *known = known_seals;
    while (known->size != size)
        known++;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < size; i++)
        sum = sum * 31 + job.text[i];
    return sum == known->sum && !memcmp(job.answer, known->tag, sizeof known->tag);
}

static bool setup_by(struct tm_run *run, uint32_t way, uint32_t size) {
    return connect(run, way) && give(run, way, size);
}

static bool sample_seal(struct tm_run *run, uint32_t size) {
    prepare(JOB_SEAL, size);
    return tm_program_sample(run) && tm_program_answer(run, is_sealed(size));
}

static bool setup_seal(struct tm_run *run) { return setup_by(run, run->value[0], run->value[1]); }
static bool sample_seal_by(struct tm_run *run) { return sample_seal(run, run->value[1]); }

/* The buffer stays allowed to the driver for all commands. */
static bool setup_command(struct tm_run *run) {
    if (!setup_by(run, KERNEL, run->value[0]) || share(JOB_HEAD + run->value[0]))
        return run->skip_reason ? false : tm_fail(run, "allow_rw", "WRONG_RESULT");
    run->shot.body = by_command;
    return true;
}
static bool sample_command(struct tm_run *run) { return sample_seal(run, run->value[0]); }

/* The side that decapsulates makes the key. This app makes one in any case, for the ciphertext.
 */
static bool setup_decapsulate(struct tm_run *run) {
    uint32_t way = run->value[0];
    if (!setup_by(run, way, CIPHERTEXT))
        return false;
    prepare(JOB_MAKE_KEY, CIPHERTEXT);
    if (run->shot.body(run->shot.arg))
        return tm_fail(run, "make_key", "WRONG_RESULT");
    memcpy(ciphertext, job.text, sizeof ciphertext);
    return tm_verify(run, !memcmp(job.answer, known_secret, sizeof known_secret));
}

static bool sample_decapsulate(struct tm_run *run) {
    prepare(JOB_DECAPSULATE, CIPHERTEXT);
    memcpy(job.text, ciphertext, sizeof ciphertext);
    return tm_program_sample(run) &&
           tm_program_answer(run, !memcmp(job.answer, known_secret, sizeof known_secret));
}

TM_STACK(20480);
TM_BENCH(crypto_seal, .setup = setup_seal, .sample = sample_seal_by);
TM_BENCH(crypto_decapsulate, .setup = setup_decapsulate, .sample = sample_decapsulate);
TM_BENCH(crypto_command, .setup = setup_command, .sample = sample_command);
TM_APP(crypto);
