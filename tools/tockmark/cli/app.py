# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The program `tockmark`: its verbs under the headings of its help, each with the module of this
folder that holds it. program.py says how a verb is declared."""

from tockmark.cli.program import Group, Program, run

PROGRAM = Program(
    name="tockmark",
    package="tockmark.cli",
    help="""Measure what the Tock operating system costs on OpenTitan Earl Grey.

    `tockmark VERB --help` says more of a verb, `tockmark help TOPIC` of everything else.""",
    headings={
        "Measure": {
            "run": "measure",
            "profile": "profile",
            "latency": "profile",
        },
        "Compare": {
            "judge": "checkout",
            "compare": "compare",
            "bisect": "checkout",
        },
        "Show": {
            "table": "read",
            "site": "draw",
            "list": "read",
            "export": "compare",
            "help": "read",
        },
        "Prepare": {"doctor": "doctor", "patch": "checkout"},
    },
    groups={
        "board": Group(
            "Images for boards, and what boards print.",
            dict.fromkeys(["image", "install", "listen", "parse", "agree", "run-tab"], "board"),
        ),
    },
)
app = PROGRAM.command_line()


def main() -> None:
    """Run `tockmark` with the arguments of this process."""
    run(app)
