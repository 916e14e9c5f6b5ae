# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The search for the first bad commit, compared with a linear search."""

import itertools
import math

from tockmark.judge.bisect import first_bad


def linear_search(verdicts: tuple[bool | None, ...]) -> range:
    """Return the first bad commit, with the unknown ones directly before it."""
    end = next(n for n, verdict in enumerate(verdicts) if verdict)
    last = max(n for n in range(end) if verdicts[n] is False)
    return range(last + 1, end + 1)


def test_it_agrees_with_a_linear_search_and_asks_about_no_commit_twice() -> None:
    for count in range(2, 9):
        for turn in range(1, count):
            truth = [number >= turn for number in range(count)]
            for hidden in itertools.product([True, False], repeat=count - 2):
                inner = [None if h else t for h, t in zip(hidden, truth[1:-1], strict=True)]
                verdicts = (False, *inner, True)
                asked: list[int] = []

                def is_bad(
                    number: int, asked: list[int] = asked, of: tuple[bool | None, ...] = verdicts
                ) -> bool | None:
                    asked.append(number)
                    return of[number]

                assert first_bad(count, is_bad) == linear_search(verdicts)
                assert len(asked) == len(set(asked))
                assert {0, count - 1}.isdisjoint(asked)


def test_it_takes_as_few_steps_as_bisection() -> None:
    for turn in (1, 300, 999):
        asked: list[int] = []

        def is_bad(number: int, asked: list[int] = asked, turn: int = turn) -> bool:
            asked.append(number)
            return number >= turn

        assert first_bad(1000, is_bad) == range(turn, turn + 1)
        assert len(asked) <= math.ceil(math.log2(1000))


def test_a_range_of_unknown_commits_is_skipped_quickly() -> None:
    asked: list[int] = []

    def is_bad(number: int) -> bool | None:
        asked.append(number)
        return None if 400 <= number < 600 else number >= 900

    assert first_bad(1000, is_bad) == range(900, 901)
    assert len(asked) < 20
