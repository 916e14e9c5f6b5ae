# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Each kernel of a commit is built once. Its links are built on demand."""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pytest

from tockmark.base import paths
from tockmark.cli.checkout import recipe
from tockmark.tests.checkout import COPY, ELF, User, elf, head, user_in
from tockmark.trees.builds import Builder, BuildError, BuiltLinks, Pairs, Patch, Recipe, build_sides
from tockmark.trees.pairing import UnpairedError
from tockmark.trees.repository import repository, worktree


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> User:
    return user_in(tmp_path, monkeypatch)


@pytest.fixture
def builder(user: User) -> Iterator[Builder]:
    with worktree(repository(user.tree)) as place:
        yield Builder(place, Recipe(COPY, ELF))


# Kernels


def test_a_kernel_is_built_once(user: User, builder: Builder) -> None:
    first = builder.build(head(user))
    assert builder.build(head(user)) == first
    assert user.builds == ["0"]
    Builder(builder.worktree, Recipe(COPY, ELF)).build(head(user))
    assert user.builds == ["0"]


def test_another_command_patch_link_or_fresh_builds_again(user: User, builder: Builder) -> None:
    first = builder.build(head(user))
    place, recipe = builder.worktree, builder.recipe
    others = [
        Builder(place, Recipe(COPY + " ", ELF)).build(head(user)),
        Builder(place, Recipe(COPY, ELF, Patch("a", lambda tree: None))).build(head(user)),
        Builder(place, Recipe(COPY, ELF, Patch("b", lambda tree: None))).build(head(user)),
        builder.build(head(user), "--shuffle-sections=.text.*=1"),
        builder.build(head(user, "HEAD~1")),
    ]
    assert len({first, *others}) == 6
    fresh = Builder(place, recipe, fresh=True)
    assert {fresh.build(head(user)), fresh.build(head(user))} == {first}
    assert len(user.builds) == 7


def test_a_patch_applies_only_to_its_build(user: User) -> None:
    def put(tree: Path) -> None:
        (tree / "k0").write_bytes(elf(8, 0, 4))
        (tree / "added").write_bytes(b"")

    recipe = Recipe("test -e added && " + COPY, ELF, Patch("p", put))
    with build_sides(user.tree, ["HEAD~1", "HEAD"], recipe) as (base, new):
        assert base.up_to(1)[0].read_bytes() == elf(8, 0, 4)
        place = base.builder.worktree
        place.check_out(new.commit)
        assert (place.path / "k0").read_bytes() == elf(0, 8, 4)
        assert not (place.path / "added").exists()
        assert (place.path / ELF).is_file()  # ignored files stay, so nothing is compiled twice


def test_our_patch_is_applied_unless_disabled(user: User) -> None:
    sha = head(user).short
    with (
        pytest.raises(BuildError, match=f"{sha} cannot be built: .*Tock"),
        build_sides(user.tree, ["HEAD"], recipe(user.tree, COPY, str(ELF), no_patch=False)) as (
            side,
        ),
    ):
        side.up_to(1)
    assert user.builds == []
    with build_sides(user.tree, ["HEAD"], recipe(user.tree, COPY, str(ELF), no_patch=True)) as (
        side,
    ):
        assert side.up_to(1)


def test_a_failed_build_reports_why_and_keeps_earlier_builds(user: User, builder: Builder) -> None:
    kept = builder.build(head(user))
    place = builder.worktree
    failing = Builder(place, Recipe("echo first; printf 'the \\033[1mlast\\n\\n'; exit 3", ELF))
    with pytest.raises(BuildError) as caught:
        failing.build(head(user))
    message = str(caught.value)
    assert f"{head(user).short} failed with code 3: the  [1mlast" in message
    log = failing.elf_path(head(user)).with_name("build.log")
    assert log.read_bytes() == b"first\nthe \x1b[1mlast\n\n"
    assert paths.shown(log) in message
    assert kept.read_bytes() == elf(0, 8, 4)


# Links


def side(user: User, builder: Builder, command: str = COPY) -> BuiltLinks:
    return BuiltLinks(head(user), Builder(builder.worktree, Recipe(command, ELF)))


def test_links_are_built_on_demand(user: User, builder: Builder) -> None:
    links = side(user, builder)
    assert len(links.up_to(1)) == 1
    assert user.builds == ["0"]
    plain, shuffled = links.up_to(2)
    assert (plain.read_bytes(), shuffled.read_bytes()) == (elf(0, 8, 4), elf(8, 4, 0))
    assert links.up_to(1) == [plain]
    assert user.builds == ["0", "1"]


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (f"mkdir -p out; cp k0 {ELF}", "ignores TOCKMARK_LINK_ARGS"),
        (
            "echo \"ld: unrecognized option '$TOCKMARK_LINK_ARGS'\"; exit 1",
            "does not know --reproduce",
        ),
        (
            f"mkdir -p out; cp k0 {ELF}; : >${{TOCKMARK_LINK_ARGS#*=}}",
            "linked.tar is not lld",
        ),
    ],
)
def test_unpaired_commits_report_why(user: User, command: str, why: str, tmp_path: Path) -> None:
    with (
        build_sides(user.tree, ["HEAD~1", "HEAD"], Recipe(command, ELF)) as both,
        pytest.raises(UnpairedError, match=why),
    ):
        Pairs.of(both, tmp_path / "pairs")


# Compiles only the second commit, and links what is there. Every build adds a line to a file.
CARGO = (
    'mkdir -p "$CARGO_TARGET_DIR"; echo "$PWD" >>"$COUNT"; : >"${TOCKMARK_LINK_ARGS#*=}";'
    ' test -e k3 && cp k0 "$CARGO_TARGET_DIR/k"; cp "$CARGO_TARGET_DIR/k" kernel.elf'
)


@pytest.mark.parametrize("build", [CARGO, f"{CARGO}; ls k3"])
def test_a_side_that_does_not_compile_ends_at_once_also_with_a_shared_target_folder(
    build: str, user: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARGO_TARGET_DIR", str(tmp_path))
    recipe = Recipe(build, PurePosixPath("kernel.elf"))
    with (
        build_sides(user.tree, ["HEAD", "HEAD~1"], recipe) as both,
        pytest.raises((BuildError, UnpairedError)) as caught,
    ):
        Pairs.of(both, tmp_path / "pairs")
    assert caught.type is BuildError
    assert caught.value.code == 2
    assert len(user.builds) == 2


@pytest.mark.parametrize(
    ("elf_path", "target"), [("out/k.elf", "target"), ("a/target/b/k.elf", "a/target")]
)
def test_cargo_writes_into_the_worktree(elf_path: str, target: str, tmp_path: Path) -> None:
    assert Recipe("make", PurePosixPath(elf_path)).target_folder(tmp_path) == tmp_path / target
