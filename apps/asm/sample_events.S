/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The sampler of the third pass: counts Ibex's events around a body. Perf command 7 sets all event counters
 * to 0, the body runs, and command 6 reads them one after the other. So each counter also counts the reads
 * before its own. time.read contains the same, and is subtracted as usual. Version 2 only: in version 1 Perf
 * has no such commands.
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
 * Puts the result of command 7 into read_before, and the result of the last command 6 into read_after. Stops
 * at the first command 6 that fails.
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
