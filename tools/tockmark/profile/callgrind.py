# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Write call graphs in the format of Valgrind's Callgrind, for KCachegrind, QCachegrind and
callgrind_annotate: cycles and instructions per function and source line, and calls with their
inclusive costs.

In this format (https://valgrind.org/docs/manual/cl-format.html) a name is written in full the first
time and by its number after that. Lines without cost are omitted.
"""

from collections import defaultdict
from collections.abc import Iterator

from tockmark import __version__
from tockmark.profile.follow import Cost, Graph, Line, Node

UNKNOWN = "???"  # Callgrind's name for an unknown source file
EVENTS = ("Cycles", "Instructions")  # readers sort by the first


class _Names:
    """A set of names, each with its number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def __call__(self, name: str) -> str:
        is_known = name in self._numbers
        number = self._numbers.setdefault(name, len(self._numbers) + 1)
        return f"({number})" if is_known else f"({number}) {name}"


def text(graph: Graph, title: str) -> str:
    """Return a call graph as text; `title` describes the run."""
    total = Cost()
    for lines in graph.own.values():
        for cost in lines.values():
            total.add(cost)
    head = [
        "# callgrind format",
        "version: 1",
        f"creator: tockmark {__version__}",
        f"cmd: {title}",
        "positions: line",
        f"events: {' '.join(EVENTS)}",
        f"summary: {_figures(total)}",
        "",
    ]
    return "\n".join([*head, *_functions(graph), f"totals: {_figures(total)}", ""])


def _functions(graph: Graph) -> Iterator[str]:
    programs, files, functions = _Names(), _Names(), _Names()
    edges: defaultdict[Node, list[tuple[Line, Node]]] = defaultdict(list)
    for caller, line, to in graph.calls:
        edges[caller].append((line, to))

    def position(prefix: str, file: str, node: Node) -> Iterator[str]:
        program, path = node
        yield f"{prefix}ob={programs(program.path.name)}"
        yield f"{prefix}{'fi' if prefix else 'fl'}={files(file or UNKNOWN)}"
        yield f"{prefix}fn={functions(path)}"

    for node, (home, _) in graph.begins.items():
        yield from position("", home, node)
        current_file = home
        costs: list[tuple[Line, Node | None, Cost]] = []
        costs += [(line, None, cost) for line, cost in graph.own.get(node, {}).items()]
        costs += [(line, callee, graph.whole[node, line, callee]) for line, callee in edges[node]]
        for (file, number), callee, cost in sorted(costs, key=lambda line_cost: line_cost[0]):
            if file != current_file:
                yield f"{'fe' if file == home else 'fi'}={files(file or UNKNOWN)}"
                current_file = file
            if callee is not None:
                first_file, first = graph.begins[callee]
                yield from position("c", first_file, callee)
                yield f"calls={graph.calls[node, (file, number), callee]} {first}"
            yield f"{number} {_figures(cost)}"
        yield ""


def _figures(cost: Cost) -> str:
    return f"{cost.cycles} {cost.instructions}"
