# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Draws of samples that vary as on a board: how often the rule alarms without a change, and how
small a change it finds.

    python lab/tests/noise_draws.py --judgements 400

This prints the table of docs/method.md. The noise comes from the logs of the 2021 study
(test_study_logs.py). One of their 106 series of cycles varies: `flash.read_sporadic`, which reads
random addresses. Its steady samples are near 6010 in steps of 17, uncorrelated, with a deviation of
58.7; a counter read takes 2268. Here all rows vary like it, and the overhead by the same share.
Other noises have the same deviation, or the same middle half.
"""

import argparse
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from tockmark.compare.rule import OF_ALL, Change, Value, change_of_cycles
from tockmark.compare.spread import Deviation
from tockmark.result.stats import Floats, steady_median

RAW, READ, DEVIATION, STEP = 6010, 2268, 58.7, 17  # cycles
ROWS = 55  # rows of Tock 2.2 that touch the kernel, with one cache setting
SIZES = (16, 100, 1000)  # samples of most rows on a board, from the catalogue
LIMIT = 0.01  # the soft limit
CALM = Deviation(0, 15)  # layouts do not matter
CHANGES = (0.02, 0.03, 0.05)
FOR_POWER = 20  # comparisons of all rows

Rng = np.random.Generator
Draw = Callable[[Rng, tuple[int, int]], Floats]


def _levels(rng: Rng, shape: tuple[int, int]) -> Floats:
    """Return twelve equally frequent levels, with the deviation of the logs."""
    steps: Floats = (rng.integers(0, 12, shape).astype(np.float64) - 5.5) * (STEP / DEVIATION)
    return steps


def _tail(rng: Rng, shape: tuple[int, int]) -> Floats:
    """Return draws of Student's t of two degrees of freedom, which has no deviation; the middle
    half equals the logs' middle half."""
    draws: Floats = rng.standard_t(2, shape).astype(np.float64) * (85 / 1.633 / DEVIATION)
    return draws


def _two(rng: Rng, shape: tuple[int, int]) -> Floats:
    """Return two plateaus, chosen at random per sample, so no median is right."""
    draws: Floats = np.where(rng.random(shape) < 0.5, -1.0, 1.0)
    return draws


def _hanging(rng: Rng, shape: tuple[int, int]) -> Floats:
    """Return two plateaus that each last about five samples, with levels on each."""
    flips = np.where(rng.random(shape) < 0.2, -1.0, 1.0)
    flips[:, 0] = np.where(rng.random(shape[0]) < 0.5, -1.0, 1.0)
    steps: Floats = (flips.cumprod(axis=1) + _levels(rng, shape)) / np.sqrt(2)
    return steps


NOISES: dict[str, Draw] = {
    "levels, as in the logs": _levels,
    "heavy tail": _tail,
    "two plateaus at chance": _two,
    "plateaus that go on": _hanging,
}


def side(
    rng: Rng, noise: Draw, n: int, rows: int = ROWS, planted: float = 0, still: bool = False
) -> list[Value]:
    """Return the values of one result: rows of n samples without the cold one. `planted` is the
    added share of the net. `still`: no variation, as on a simulator."""
    share = DEVIATION / RAW
    net = round((RAW - READ) * (1 + planted))
    if still:
        return [Value((net,))] * rows
    read = _rounded(READ * (1 + share * noise(rng, (1, n - 1))))[0]
    passes = []
    for raw in _rounded(net + READ + DEVIATION * noise(rng, (rows, n - 1))):
        own = steady_median(raw) - steady_median(read)
        passes.append(Value((own,), medians_by_layout=(((1, raw), (-1, read)),)))
    return passes


def _rounded(samples: Floats) -> list[tuple[int, ...]]:
    return [tuple(sample) for sample in np.rint(samples).astype(int).tolist()]


def judged(
    base: Sequence[Value], new: Sequence[Value], chance: float | None = None
) -> list[Change]:
    """Return the change of each row by the rule. `chance` is the error probability of a side; the
    default assumes that all rows vary. With too few samples the interval is unbounded."""
    side_chance = OF_ALL / len(base) if chance is None else chance
    changes = []
    for before, after in zip(base, new, strict=True):
        interval = change_of_cycles(before, after, CALM, error_probability=side_chance)
        few = before.too_few_samples(side_chance) or after.too_few_samples(side_chance)
        changes.append(replace(interval, low=0, high=math.inf) if few else interval)
    return changes


def draws(
    noise: Draw, n: int, many: int, planted: float = 0, seed: int = 1, rows: int = ROWS
) -> Iterator[list[Change]]:
    """Yield the changes of `many` comparisons."""
    rng = np.random.default_rng(seed)
    for _ in range(many):
        base = side(rng, noise, n, rows)
        yield judged(base, side(rng, noise, n, rows, planted))


def alarms(changes: Sequence[Change]) -> tuple[bool, bool]:
    """Return whether any interval of unchanged rows excludes a change of zero, and whether any is
    completely beyond the limit."""
    other = any(interval.low > 1 or interval.high < 1 for interval in changes)
    return other, any(interval.low > 1 + LIMIT for interval in changes)


def share_found(judgements: Iterable[list[Change]], limit: float = LIMIT) -> float:
    """Return the share of rows whose whole interval is beyond the limit."""
    return float(
        np.mean([interval.low > 1 + limit for changes in judgements for interval in changes])
    )


def table(many: int) -> str:
    """Return the table in Markdown."""
    heads = "".join(f" +{share * 100:.0f} % |" for share in CHANGES)
    lines = [
        "| noise | samples | no change: a row certainly differs | beyond the soft limit"
        f" |{heads} one row varies: +3 % | certainly worse |",
        "|---|---:|---:|---:|" + "---:|" * (len(CHANGES) + 2),
    ]
    for name, noise in NOISES.items():
        for n in SIZES:
            alarm_pairs = [alarms(changes) for changes in draws(noise, n, many)]
            other, beyond = (sum(pair[kind] for pair in alarm_pairs) for kind in (0, 1))
            alone = list(draws(noise, n, FOR_POWER * 10, 0.03, 3, rows=1))
            shares = [
                *(share_found(draws(noise, n, FOR_POWER, share, 2)) for share in CHANGES),
                share_found(alone),
                share_found(alone, 0),
            ]
            line = f"| {name} | {n} | {other} of {many} | {beyond} |"
            lines.append(line + "".join(f" {share * 100:.0f} % |" for share in shares))
            print(lines[-1], file=sys.stderr, flush=True)
    return "\n".join(lines)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--judgements", type=int, default=400)
    print(table(parser.parse_args().judgements))


if __name__ == "__main__":
    main()
