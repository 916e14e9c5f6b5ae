# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Small trees with the anchors of `tockmark patch`, without any of Tock's code."""

from pathlib import Path

from tockmark.trees.patch import load_families

# Boards with Earl Grey: the newest family has the name of its board, earlier ones also a version.
EARL_GREY = [family for family in load_families() if family.perf]
NEWEST = {Path(family.board).name: family for family in EARL_GREY}
KNOWN = {
    name if NEWEST[name] == family else f"{name}, {family.versions}": family
    for family in EARL_GREY
    for name in [Path(family.board).name]
}
OTHERS = {family.name: family for family in load_families() if not family.perf}
NAMES = {"earlgrey-nexysvideo": "EarlGreyNexysVideo", "earlgrey-cw310": "EarlGrey"}
NO_IPC = {
    "earlgrey-nexysvideo": "None::<&kernel::ipc::IPC<NUM_PROCS>>",
    "earlgrey-cw310": "None::<&kernel::ipc::IPC<0>>",
}
MAIN = """// a board
#[cfg(test)]
mod tests;
pub mod io;

struct NAME {
    led: Led,
}

impl Lookup for NAME {
    fn with_driver(&self, driver: usize) {
        match driver {
            led::DRIVER_NUM => f(Some(self.led)),
            _ => f(None),
        }
    }
}

fn main() {
    let board = static_init!(
        NAME,
        NAME {
            led,
        }
    );
    kernel_loop(board, chip, NO_IPC, &main_loop_cap);
}
"""
CHIP = "struct Chip {\n    pmp: PMP<4, 2>,\n}\nimpl Chip {\n    type MPU = PMP<4, 2>;\n}\n"


OTHER_MAIN = """// a board
struct NAME {
    base: Base,
}

impl Lookup for NAME {
    fn with_driver(&self, driver: usize) {
        match driver {
            led::DRIVER_NUM => f(Some(self.led)),
            REST
        }
    }
}

fn main() {
    let NAMED = NAME {
        base,
    };
}
"""
OTHER_NAMES = {
    "nrf52840dk": ("Platform", "platform", "_ => self.base.with_driver(driver, f),"),
    "microbit-v2": ("MicroBit", "microbit", "_ => f(None),"),
}


def make_other(tree: Path, name: str) -> Path:
    """Make a tree with the anchors of a board in `OTHERS`, without Earl Grey."""
    family = OTHERS[name]
    type_, named, rest = OTHER_NAMES[name]
    main = OTHER_MAIN.replace("NAMED", named).replace("NAME", type_).replace("REST", rest)
    for file in family.needs:
        write(tree / file, "// it is there\n")
    write(tree / family.board / "src" / "main.rs", main)
    return tree


def make(tree: Path, board: str) -> Path:
    """Make a minimal tree with the anchors of a board in `KNOWN`."""
    family = KNOWN[board]
    board = Path(family.board).name
    main = MAIN.replace("NO_IPC", NO_IPC[board]).replace("NAME", NAMES[board])

    library = next(edit.file for edit in family.required_part.edits if edit.file.endswith("lib.rs"))
    made = {
        **dict.fromkeys(family.needs, "// it is there\n"),
        **family.holds,
        f"{family.board}/src/main.rs": main,
        library: "#![no_std]\npub mod adc;\n/// One more.\npub mod last;\n\nuse core::fmt;\n",
        "chips/earlgrey/src/chip.rs": CHIP,
    }
    for name, text in made.items():
        write(tree / name, text)
    return tree


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
