# SPDX-License-Identifier: Apache-2.0 OR MIT
"""`tockmark help TOPIC` shows pages of docs/; `--version` prints the commit."""

import pytest
from typer.testing import CliRunner

from tockmark import __version__
from tockmark.base import paths
from tockmark.base.errors import TockmarkError
from tockmark.cli import app

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def shown(*arguments: str) -> str:
    done = CliRunner().invoke(app.app, list(arguments))
    assert done.exit_code == 0, done.output
    return done.output


def test_every_page_is_a_topic_with_its_title() -> None:
    lines = shown("help").splitlines()
    assert [line.split()[0] for line in lines] == sorted(p.stem for p in paths.DOCS.glob("*.md"))
    assert all(len(line.split()) > 1 for line in lines)


@pytest.mark.parametrize(
    ("topic", "advice"),
    [
        ("findins", "Did you mean findings?"),
        ("export", "It is a verb: `tockmark export --help`."),
        ("xyzzy", "`tockmark help` lists all."),
        ("../README", "`tockmark help` lists all."),
    ],
)
def test_an_unknown_topic_is_an_error_of_one_line(topic: str, advice: str) -> None:
    with pytest.raises(TockmarkError) as raised:
        CliRunner().invoke(app.app, ["help", topic], catch_exceptions=False)
    assert str(raised.value) == f"there is no topic '{topic}'. {advice}"
    assert raised.value.code == 2


@pytest.mark.parametrize(
    ("commit", "line"),
    [
        (None, f"tockmark {__version__}"),
        (COMMIT, f"tockmark {__version__}, commit {COMMIT}"),
        (f"{COMMIT}-dirty", f"tockmark {__version__}, commit {COMMIT}, with changes"),
    ],
)
def test_the_version_names_the_commit(
    commit: str | None, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "commit_of_checkout", lambda: commit)
    assert shown("--version") == f"{line}\n"
