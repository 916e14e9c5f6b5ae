# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Lists the chip's RTL for Verilator, as FuseSoC would from OpenTitan's .core files.

    file_list.py PACKAGE MADE [STUBS] > chip.f

PACKAGE is the folder with OpenTitan's hw/. MADE is the folder for files that OpenTitan's build
generates. STUBS lists the modules to replace by empty ones: blocks that none of our kernels uses.
Files are listed in the order of their use: packages first, each after the packages that it names.
"""

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

TOP = "lowrisc:systems:top_earlgrey"
FLAGS = {"tool_verilator", "fileset_top"}  # true in the conditions of .core files
# OpenTitan's build generates this package from the available technologies. Here there is one.
PRIM_PKG = "package prim_pkg;\n  typedef enum integer {ImplGeneric} impl_e;\nendpackage\n"
# Verilator 5.48 does not accept this assignment pattern; a loop over the shares is equivalent.
AES = (
    r"key_init_we_o\s*= '\{default: (\{NumRegsKey\{\w+\}\})\};",
    r"for (int s = 0; s < NumSharesKey; s++) key_init_we_o[s] = \1;",
)


class Cores:
    """The .core files of a folder, and the source files of the cores that were visited."""

    def __init__(self, hardware: Path, made: Path) -> None:
        self.made = made
        self.hardware = hardware
        self.sources: list[Path] = []
        self.includes: list[Path] = []
        self._visited = {"lowrisc:tool:check_tool_requirements"}
        self._cores: dict[str, tuple[Path, dict[str, Any]]] = {}
        for path in sorted(hardware.rglob("*.core")):
            data = YAML(typ="safe").load(path) or {}
            for name in [data.get("name"), *data.get("virtual", [])]:
                if name:
                    self._cores.setdefault(unversioned(name), (path.parent, data))

    def visit(self, name: str) -> None:
        """Add the files of a core after those of the cores that it depends on."""
        if name in self._visited:
            return
        self._visited.add(name)
        folder, core = self._cores[name]
        target = core.get("targets", {}).get("default", {})
        filesets = [
            core["filesets"][fileset_name] for fileset_name in chosen(target.get("filesets", []))
        ]
        for fileset in filesets:
            for dependency in chosen(fileset.get("depend") or []):
                self.visit(unversioned(dependency))
        for generator in target.get("generate") or []:
            self._generate(name, core["generate"][generator]["parameters"])
        for fileset in filesets:
            for entry in fileset.get("files") or []:
                attributes: dict[str, Any] = {}
                if isinstance(entry, dict):
                    ((entry, attributes),) = entry.items()
                kind = attributes.get("file_type", fileset.get("file_type", ""))
                for file in chosen([entry]):
                    if kind.lower().startswith(("systemverilog", "verilog")):
                        self._add(folder / file, attributes.get("is_include_file", False))

    def _add(self, path: Path, included: bool = False) -> None:
        if included:
            self.includes.append(path.parent)
        elif path not in self.sources:
            self.sources.append(path)

    def _generate(self, core: str, parameters: dict[str, Any]) -> None:
        """Generate what OpenTitan's generator of primitives would: a module with the plain name,
        here always with the contents of the generic one."""
        if core.endswith(":prim_pkg"):
            self._add(self._written("prim_pkg", PRIM_PKG))
            return
        name = parameters["prim_name"]
        self.visit(f"lowrisc:prim_generic:{name}")
        (generic,) = self.hardware.rglob(f"prim_generic_{name}.sv")
        text = re.sub(rf"\bprim_generic_{name}\b", f"prim_{name}", generic.read_text())
        self._add(self._written(f"prim_{name}", text))

    def _written(self, name: str, text: str) -> Path:
        path = self.made / f"{name}.sv"
        path.write_text(text, encoding="utf-8")
        return path

    def empty(self, modules: list[str]) -> None:
        """Replace these modules by their bare interfaces. A store to one waits forever, because
        nothing answers."""

        def emptied(path: Path, text: str) -> str:
            head = re.search(rf"\bmodule {path.stem}\b.*?\)\s*;", text, re.S)
            if head is None:
                sys.exit(f"file_list: {path} has no module of its name")
            return "\n".join([*re.findall(r"^`include.*$", text, re.M), head[0], "endmodule", ""])

        self._replace(modules, emptied)

    def mend_aes(self) -> None:
        """Replace the file that Verilator does not accept."""

        def mended(path: Path, text: str) -> str:
            changed, count = re.subn(*AES, text)
            if not count:
                sys.exit(f"file_list: {path} does not have the expected assignment")
            return changed

        self._replace(["aes_control"], mended)

    def _replace(self, modules: list[str], change: Callable[[Path, str], str]) -> None:
        """Replace each of these files by a changed copy."""
        for index, path in enumerate(self.sources):
            if path.stem in modules:
                changed = change(path, path.read_text(encoding="utf-8"))
                self.sources[index] = self._written(path.stem, changed)


def unversioned(name: str) -> str:
    """Return vendor, library and name of `>=vendor:library:name:version`."""
    return ":".join(name.lstrip("<>=~^").split(":")[:3])


def chosen(entries: list[str]) -> Iterator[str]:
    """Yield entries without a condition, and the entries of `flag ? (…)` and `!flag ? (…)` that
    hold."""
    for entry in entries:
        condition = re.fullmatch(r"\s*(!?)(\w+)\s*\?\s*\((.*)\)\s*", entry)
        if condition is None:
            yield entry
        elif (condition[2] in FLAGS) != bool(condition[1]):
            yield from condition[3].split()


def in_order(sources: list[Path]) -> list[Path]:
    """Return the files with packages first, each after those that it names."""
    text = {path: path.read_text(encoding="utf-8") for path in sources}
    package_of = {
        match[1]: path
        for path in sources
        if (match := re.search(r"^\s*package\s+(\w+)", text[path], re.M))
    }
    ordered: list[Path] = []
    begun: set[Path] = set()

    def place(path: Path) -> None:
        if path in begun:
            return
        begun.add(path)
        for name in re.findall(r"\b(\w+)::", re.sub(r"//.*", "", text[path])):
            if name in package_of:
                place(package_of[name])
        ordered.append(path)

    for path in [*package_of.values(), *sources]:
        place(path)
    return ordered


def main() -> None:
    package, made = Path(sys.argv[1]), Path(sys.argv[2])
    made.mkdir(parents=True, exist_ok=True)
    cores = Cores(package / "hw", made)
    cores.visit(TOP)
    cores.mend_aes()
    if len(sys.argv) > 3:
        cores.empty(Path(sys.argv[3]).read_text(encoding="utf-8").split())
    for folder in dict.fromkeys(cores.includes):
        print(f"+incdir+{folder}")
    for path in in_order(cores.sources):
        print(path)


if __name__ == "__main__":
    main()
