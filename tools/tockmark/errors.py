# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The errors that a user can meet are one line each, and end in one of these exit codes."""

OK = 0
INCOMPLETE = 1  # something failed or is missing; what was good is kept
UNUSABLE = 2  # unusable input, or wrong usage
REGRESSION = 3  # beyond a hard limit of `gate`
INTERRUPTED = 130  # Ctrl-C, as shells have it; what was good is kept

MEANING = {  # in the help; a verb may say more precisely what it means by a code
    OK: "all is well",
    INCOMPLETE: "something failed or is missing; what was good is kept",
    UNUSABLE: "unusable input, or wrong usage",
    REGRESSION: "a regression (gate, judge)",
    INTERRUPTED: "Ctrl-C",
}
KEPT = "Ctrl-C; what was built and simulated is kept: the same command goes on from there"


class TockmarkError(Exception):
    """One line for the user: what is wrong, and what to do next."""

    def __init__(self, what: str, todo: str = "", code: int = UNUSABLE) -> None:
        super().__init__(f"{what}; {todo}" if todo else what)
        self.code = code
