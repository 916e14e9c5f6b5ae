# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The program `tockmark-lab`: its verbs under the headings of its help, each with the module that
holds it. tockmark/cli/program.py explains how a verb is declared."""

from tockmark.cli.program import VerbProgram, run

PROGRAM = VerbProgram(
    name="tockmark-lab",
    package="tockmark_lab",
    help="""Check that tockmark's numbers are right, and make its studies.

    `tockmark-lab VERB --help` describes a verb.""",
    headings={
        "Check the simulator": {"validate": "verbs", "same-simulator": "verbs"},
        "Check the kernel": {
            "conformance": "verbs",
            "reproduce": "reproduce",
            "past-bark": "past_bark",
        },
        "Check results": {"verify": "verbs", "false-alarms": "false_alarms"},
        "Attack the project": {"robustness": "robustness"},
        "Watch over time": dict.fromkeys(["history", "campaign", "site"], "over_time.verbs"),
        "Studies": {
            name: f"studies.{name}"
            for name in (
                "programs",
                "ladder",
                "instances",
                "isolation",
                "growth",
                "cores",
                "receive",
                "stack",
            )
        }
        | {"study-log": "verbs"},
    },
    option_headings={
        "What to measure": (
            "--kernel --only --icache --build --elf --commit --every --follow --beyond"
            " --seeds --seed --calls --attackers --mixes --step --stack --alarm --level --links"
        ),
        "Where to run": "--board --machine --jobs",
        "Output": "--output --json --file",
    },
)
app = PROGRAM.command_line()


def main() -> None:
    """Run `tockmark-lab` with the arguments of this process."""
    run(app)
