/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The sampler of the third pass: what Ibex's event counters count around a body. Perf command 7 sets
 * all of them to 0, the body runs, and command 6 reads one after the other; so each counts what the
 * readings before its own do besides. time.read has the same, and is subtracted as ever. Version 2
 * only: on version 1 Perf has no such commands.
 */
#include "sampler.inc"
#if TM_ABI == 2

    .text

.macro perf command
    li      a0, TM_PERF
    li      a1, \command
    li      a3, 0
    li      a4, TOCK_COMMAND
    ecall
.endm

/*
 * void tm_sample_events(struct tm_shot *shot, uint32_t counts[])
 * Leaves what command 7 returned in read_before, and in read_after what the last command 6 did; it
 * ends with the first that is no success.
 */
sampler tm_sample_events, saved=6
    mv      s1, a1
    lw      s2, SHOT_BODY(s0)
    lw      s3, SHOT_ARG(s0)
    li      a2, TM_EVENTS_ALL
    perf    TM_PERF_EVENTS_START
    sw      a0, SHOT_READ_BEFORE(s0)
    call_body s2, s3, s4, s5

    li      s2, TM_EVENT_FIRST
2:  mv      a2, s2
    perf    TM_PERF_EVENT
    sw      a1, 0(s1)
    li      a5, TOCK_SUCCESS_U64
    bne     a0, a5, 3f
    addi    s1, s1, 4
    addi    s2, s2, 1
    li      a5, TM_EVENT_LAST
    bleu    s2, a5, 2b

3:  sw      a0, SHOT_READ_AFTER(s0)
end_sampler tm_sample_events, s4, s5
#endif
