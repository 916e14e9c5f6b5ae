/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The result of a row without samples: hooks and sampling record the reason here (bench.h), and the
 * harness prints it. */
#include "bench.h"

bool tm_skip(struct tm_run *run, const char *reason) {
    run->skip_reason = reason;
    return false;
}

bool tm_fail(struct tm_run *run, const char *call, const char *error) {
    if (!run->failed_call) { /* only the first failure counts */
        run->failed_call = call;
        run->failed_error = error;
    }
    return false;
}

bool tm_fail_with(struct tm_run *run, const char *call, struct tock_return returned) {
    return tm_fail(run, call, tock_error_name(returned.word[0]));
}

bool tm_verify(struct tm_run *run, bool as_it_should) {
    return as_it_should || tm_fail(run, "verify", "WRONG_RESULT");
}
