# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The program `tockmark`: its verbs, under the headings of its help, and their modules in this
folder. program.py explains how to declare a verb."""

from tockmark.cli.program import Group, VerbProgram, run

PROGRAM = VerbProgram(
    name="tockmark",
    package="tockmark.cli",
    help="""Measure what the Tock operating system costs on OpenTitan Earl Grey.

    For details of a verb, run `tockmark VERB --help`; for other topics, `tockmark help`.""",
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
            "Make and load images for boards, and read their logs:",
            dict.fromkeys(["image", "install", "listen", "parse", "agree", "run-tab"], "board"),
        ),
    },
    option_headings={
        "What to measure": (
            "--kernel --base --head --row --limit --only --icache --lang --layouts"
            " --links --waits --limits --cycles --alarms --chain --loads --build --elf"
        ),
        "Where to run": (
            "--board --machine --core --engine --images --port --baud --log --jobs --dask"
        ),
        "Output": (
            "--output --beside --all --json --markdown --profiles --show --against"
            " --functions --whole --callgrind --diff --perfetto --around --from --to"
        ),
    },
)
app = PROGRAM.command_line()


def main() -> None:
    """Run `tockmark` with the arguments of this process."""
    run(app)
