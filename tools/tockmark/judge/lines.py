# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Straight lines of least squares: all that is fitted anywhere is fitted here. Knows nothing of
benchmarks."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Fitted:
    """y = intercept + slopes · columns, and what that leaves of y."""

    intercept: float
    slopes: tuple[float, ...]
    squares: float  # the sum of the squared residuals


def fitted(ys: Sequence[float] | Floats, *columns: Sequence[float] | Floats) -> Fitted:
    """The line of least squares; the columns must not depend on each other.

    Taken from the means, where the columns' products stay small and whole numbers exact."""
    y = np.asarray(ys, dtype=np.float64)
    x = np.stack([np.asarray(column, dtype=np.float64) for column in columns], axis=1)
    dx, dy = x - x.mean(axis=0), y - y.mean()
    try:
        slopes = np.linalg.solve(dx.T @ dx, dx.T @ dy)
    except np.linalg.LinAlgError:  # sizes too far apart for their squares
        slopes = np.linalg.lstsq(dx, dy, rcond=None)[0]
    rest = dy - dx @ slopes
    intercept = y.mean() - float(slopes @ x.mean(axis=0))
    return Fitted(float(intercept), tuple(map(float, slopes)), float(rest @ rest))


@dataclass(frozen=True)
class Line:
    """A straight line through a sweep; one point was held out of the fit to check it."""

    slope: float
    intercept: float
    residual_sd: float  # of the points that were fitted, with n - 2 degrees of freedom
    held_out: float  # x of the point that was held out
    held_out_error: float  # its y less what the line says


def line(xs: Sequence[float], ys: Sequence[float], held_out: int | None = None) -> Line | None:
    """A line through all points but one (the middle one, unless told); None below four points: two
    make a line, a third a residual, the fourth checks it."""
    if len(set(xs)) < 4:
        return None
    order = sorted(range(len(xs)), key=lambda i: xs[i])
    out = order[len(order) // 2] if held_out is None else held_out
    kept = [i for i in order if i != out]
    found = fitted([ys[i] for i in kept], [xs[i] for i in kept])
    (slope,) = found.slopes
    sd = float(np.sqrt(found.squares / (len(kept) - 2)))
    error = float(ys[out] - (found.intercept + slope * xs[out]))
    # What floating point leaves of a zero is none: nine digits are more than any count has.
    return Line(*(round(v, 9) + 0.0 for v in (slope, found.intercept, sd, float(xs[out]), error)))
