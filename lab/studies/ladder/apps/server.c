/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The server of the ladder (ladder.h). It prints nothing and runs for ever. */
#include "chacha.h"
#include "way.h"

#include <string.h>

static struct rung rung;
static struct count count;
static struct note notes[CLIENTS_MAX][EACH];

static bool is_asked(struct message *message) {
    uint32_t size = message->size, client = message->client;
    if (client >= clients() || size > sizeof message->words || size % 4)
        return false;
    switch (message->kind) {
    case BEGIN:
        if (size < sizeof rung)
            return false;
        count = (struct count){.deposited = 0};
        uint32_t last = rung.number;
        memcpy(&rung, message->words, sizeof rung);
        rung.number = last + 1;
        rung.begins += tm_alarm_now();
        memcpy(message->words, &rung, sizeof rung);
        return true;
    case JOIN:
        if (size < sizeof rung)
            return false;
        memcpy(message->words, &rung, sizeof rung);
        return true;
    case ENCRYPT:
        chacha_words(message->words, size / 4);
        count.served[client]++;
        return true;
    case DEPOSIT:
        if (size != sizeof *notes)
            return false;
        memcpy(notes[client], message->words, size);
        count.deposited |= 1U << client;
        return true;
    case COLLECT:
        client = message->words[0];
        if (size < sizeof count + sizeof *notes || client >= clients())
            return false;
        memcpy(message->words, &count, sizeof count);
        memcpy(message->words + sizeof count / 4, notes[client], sizeof *notes);
        return true;
    }
    return false;
}

static void handle(struct message *message, struct reading taken) {
    message->good = is_asked(message);
    message->taken = taken;
    message->done = take_reading(0);
}

int main(void) { return way_serve(handle); }
