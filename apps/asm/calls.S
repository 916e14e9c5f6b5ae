/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Bodies of the group call. Each calls one procedure as often as the catalogue says, without a loop, and
 * returns through t0, where the sampler also puts its return address. So neither saving ra nor a loop costs
 * anything, and the net is exactly what it takes to pass the arguments, call, run the procedure and return.
 * A single call would take less than the variation of the counter reads on some kernels.
 */
#include "body.inc"
#include "rows.h"

/* The procedures, each on its own 8-byte boundary. They do not change t0. */
body tm_procedure_void
    ret
end_body tm_procedure_void

body tm_procedure_return
    li      a0, 42
    ret
end_body tm_procedure_return

/* A call adds 2: jal, ret. */
body tm_call_void
    .rept   TM_INNER_call_void
    jal     ra, tm_procedure_void
    .endr
    jr      t0
end_body tm_call_void

/* A call adds 3: jal, li, ret. Returns 42. */
body tm_call_return
    .rept   TM_INNER_call_return
    jal     ra, tm_procedure_return
    .endr
    jr      t0
end_body tm_call_return

/* A call adds 4: lw (the pointer, from the address in a1), jalr, li, ret. A mv comes once per sample.
 * Returns 42. */
body tm_call_indirect
    mv      a1, a0
    .rept   TM_INNER_call_indirect
    lw      a5, 0(a1)
    jalr    ra, 0(a5)
    .endr
    jr      t0
end_body tm_call_indirect

/*
 * call.args with up to 8 arguments, 1 to n, in registers. A call adds 2n + 1: n li, jal, n - 1 add
 * (the procedure sums its arguments), ret. Returns the sum.
 */
.macro call_args_in_registers n
body tm_procedure_args_\n
    .irp    i, 1, 2, 3, 4, 5, 6, 7
    .if     \i < \n
    add     a0, a0, a\i
    .endif
    .endr
    ret
end_body tm_procedure_args_\n

body tm_call_args_\n
    .rept   TM_INNER_call_args
    .irp    i, 0, 1, 2, 3, 4, 5, 6, 7
    .if     \i < \n
    li      a\i, \i + 1
    .endif
    .endr
    jal     ra, tm_procedure_args_\n
    .endr
    jr      t0
end_body tm_call_args_\n
.endm

    .irp    n, 1, 2, 3, 4, 5, 6, 7, 8
    call_args_in_registers \n
    .endr

/*
 * The ninth and tenth argument are passed on the stack: each costs 4 (li, sw, lw, add) instead of 2, and the
 * caller moves sp down and up again.
 */
.macro call_args_on_stack n
body tm_procedure_args_\n
    .irp    i, 1, 2, 3, 4, 5, 6, 7
    add     a0, a0, a\i
    .endr
    .irp    i, 8, 9
    .if     \i < \n
    lw      a1, 4 * (\i - 8)(sp)
    add     a0, a0, a1
    .endif
    .endr
    ret
end_body tm_procedure_args_\n

body tm_call_args_\n
    .rept   TM_INNER_call_args
    addi    sp, sp, -16
    .irp    i, 8, 9
    .if     \i < \n
    li      a0, \i + 1
    sw      a0, 4 * (\i - 8)(sp)
    .endif
    .endr
    .irp    i, 0, 1, 2, 3, 4, 5, 6, 7
    li      a\i, \i + 1
    .endr
    jal     ra, tm_procedure_args_\n
    addi    sp, sp, 16
    .endr
    jr      t0
end_body tm_call_args_\n
.endm

    call_args_on_stack 9
    call_args_on_stack 10
