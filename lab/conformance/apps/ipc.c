/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The app ipc: finds, notifies and shares with the app service, in both versions of the interface.
 */
#include "checks.h"
#include "peers.h"
#include "service.h"

const struct identity identity = {"ipc", 1, 0};

#if TM_ABI == 1
#define RULE(v1, v2) "V1-" v1
enum { ABSENT_ERROR = INVAL, FULL_ERROR = FAIL, FIRST = 1 };
#else
#define RULE(v1, v2) "V2-" v2
enum { ABSENT_ERROR = NODEVICE, FULL_ERROR = NOMEM, FIRST = 0 };
#endif

static volatile struct shared shared[2] __attribute__((aligned(8)));
static volatile struct reply reply;
static volatile uint32_t answers;
static uint32_t service;

static void on_service(uint32_t from, uint32_t length, uint32_t address, uint32_t userdata) {
    note_upcall(from, length, address, userdata);
    if (length >= sizeof reply) {
        volatile const struct reply *lent = (volatile const struct reply *)address;
        reply.length = lent->length;
        reply.address = lent->address;
        reply.userdata = lent->userdata;
        reply.notifications = lent->notifications;
    }
    answers++;
}

static void wait_for(uint32_t count) {
    while (answers < count)
        yield();
}

/* Shares, notifies and waits for the answer. */
static void ask(volatile void *buffer, uint32_t length) {
    uint32_t before = answers;
    forget_upcalls();
    share(service, buffer, length);
    expect(refused(notify_service(service)), false);
    wait_for(before + 1);
}

static void check_discovery(void) {
    rule(RULE("50", "120"));
#if TM_ABI != 1
    expect(command(IPC, 0, 0, 0).a0, SUCCESS);
#endif
    expect(find_process("ipc"), app_slot + FIRST);
    expect(service, app_slot + FIRST + 1);
    expect(find_process("servic"), NOBODY);
    expect(find_process("services"), NOBODY);

    rule(RULE("51", "121"));
#if TM_ABI == 1
    expect_error(allow(IPC, 0, "nobody", 6), INVAL); /* also for a name in flash */
#else
    allow_ro(IPC, 0, "nobody", 6);
    expect_error(command(IPC, 1, 0, 0), NODEVICE);
#endif
}

static void check_late_service(void) {
    rule(RULE("52", "122"));
    subscribe(IPC, service, on_service, 0xc11e);
    ask(shared, sizeof *shared);
    expect(reply.notifications, 1);

    rule(RULE("53", "123"));
    expect(reply.length, sizeof *shared);
    expect(reply.address, (uintptr_t)shared);
    expect(reply.userdata, SERVICE_USERDATA);

    rule(RULE("54", "124"));
    expect(seen.count, 1);
    expect(seen.calls[0].a0, service);
    expect(seen.calls[0].a3, 0xc11e);

    rule(RULE("55", "125"));
    expect(shared->word, 1);
    shared->word = 41;
    ask(shared, sizeof *shared);
    expect(shared->word, 42);

    rule(RULE("56", "126"));
    expect_error(notify_service(99), INVAL);
    expect_error(notify_client(99), INVAL);
}

/* Checks what each kernel decides itself. */
static void check_own(void) {
    rule(RULE("57", "130"));
    volatile uint8_t *odd = (volatile uint8_t *)shared + 2;
    ask(odd, 8);
    expect(reply.length | reply.address, 0);
    ask(shared, 6);
    expect(reply.length | reply.address, 0);
    ask(shared, 0);
    expect(reply.length | reply.address, 0);

    rule(RULE("58", "131"));
    uint32_t before = answers, sent = 0;
    share(service, shared, sizeof *shared);
    struct answer last;
    do
        last = notify_service(service);
    while (!refused(last) && ++sent < 20);
    expect(sent, 3);
    expect_error(last, FULL_ERROR);
    wait_for(before + 1);

    rule(RULE("59", "132"));
    expect(refused(notify_service(app_slot + FIRST)), false);
    spin(milliseconds(30)); /* the service answers the rest */
    forget_upcalls();

#if TM_ABI != 1
    rule("V2-133");
    subscribe(IPC, service, 0, 0);
    while (poll())
        ;
    shared->word = 0;
    notify_service(service);
    struct answer answer = call(YIELD, WAIT_FOR, IPC, service, 0);
    expect(answer.a0, service);
    expect(answer.a1, sizeof reply);
    expect(shared->word, 1);

    rule("V2-134");
    shared->leave = 1;
    notify_service(service);
    call(YIELD, WAIT_FOR, IPC, service, 0);
    spin(milliseconds(5));
    expect_error(notify_service(service), NODEVICE);
#endif
}

void run(void) {
    service = find_process("service");
    if (service == NOBODY) {
        static const char *const rules[] = {"V2-120", "V2-121", "V2-122", "V2-123",
                                            "V2-124", "V2-125", "V2-126"};
        for (uint32_t i = 0; i < sizeof rules / sizeof *rules; i++)
            skip_rule(rules[i], "this kernel has no IPC");
        finish();
    }
    check_discovery();
    check_late_service();
    if (app_scene == 0)
        check_own();
    finish();
}
