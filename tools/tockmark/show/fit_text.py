# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How the lines through sweeps are shown: as a table, and as JSON."""

from dataclasses import asdict
from itertools import groupby

from tockmark.judge.fit import FROM, Sweep
from tockmark.show import text

NAME = 34
WIDTHS = {"slope": 9, "intercept": 10, "sd": 8, "held": 6, "off": 9}

LEGEND = [
    "net cycles of one operation = intercept + slope x size. One size is held out of the fit:",
    "off is what was measured there less what the line says. sd: of the residuals. bend: the",
    "size from which on another slope fits much better, and the slopes before and behind it.",
    f"Sizes of what is moved count from {FROM} bytes up.",
]


def render(found: list[Sweep]) -> str:
    """The lines as a table."""
    out = [*LEGEND]
    head = text.cells(WIDTHS, WIDTHS.values())
    for section, sweeps in groupby(found, lambda sweep: sweep.section):
        out += ["", section, f"{'':{NAME}}{head}  bend", "-" * text.LINE]
        out += [_line(sweep) for sweep in sweeps]
    return "\n".join(out) + "\n"


def numbers(sweep: Sweep) -> tuple[str, str]:
    """Slope and intercept, as the table and the pictures have them."""
    return f"{sweep.line.slope:.4g}", f"{sweep.line.intercept:.1f}"


def equation(sweep: Sweep) -> str:
    """The line, as one writes it: 3.33 n + 12.1."""
    slope, intercept = numbers(sweep)
    return f"{slope} {sweep.parameter} + {intercept}".replace("+ -", "- ")


def _line(sweep: Sweep) -> str:
    fitted = sweep.line
    values = [*numbers(sweep), f"{fitted.residual_sd:.2g}"]
    values += [text.trimmed(fitted.held_out), f"{fitted.held_out_error:+.1f}"]
    bend = text.NONE
    if sweep.bend is not None and sweep.slopes:
        bend = f"{text.trimmed(sweep.bend)}: {sweep.slopes[0]:.3g}, {sweep.slopes[1]:.3g}"
    name = f"{sweep.label} by {sweep.parameter}"
    return f"{name:{NAME}}{text.cells(values, WIDTHS.values())}  {bend}"


def as_json(found: list[Sweep]) -> list[dict[str, object]]:
    """The same for other programs."""
    return [asdict(sweep) for sweep in found]
