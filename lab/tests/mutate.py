# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Mutations of JSON files. Most mutated files are still valid JSON, with an entry missing, added
or changed."""

import json
import random
import re
from collections.abc import Callable
from typing import Any

Place = tuple[Any, Any]  # a dictionary or list, and a key or index of it

ODD: list[Any] = [
    *(None, True, False, 0, 1, -1, 12, 64, 2**31, 2**32, 2**53, 2**53 + 1, -(2**53), 10**30),
    *(0.5, -0.0, 1e-7, 1e-300, 1e300, float("nan"), float("inf"), float("-inf")),
    *(
        "",
        " ",
        "time.read",
        "syscall.command",
        "call.args",
        "null.sample",
        "on",
        "off",
        "c",
        "rust",
    ),
    *(
        "\x1b[2J",
        "a\nb",
        "\ud800",
        "\u202e",
        "ünï",
        "$\\frac{",
        "=1+1",
        "@x",
        "../../x",
        "a" * 5000,
    ),
    *("1", "0*12", "4294967295*12", "4294967296", "7*1000001", "(1,2)*3 7", "1 2 3", "-1", "1*0"),
    *([], {}, [1], {"a": 1}, [[[[]]]], "sim", "core", "sampler", "reading", "functional-only"),
]


def places(data: Any) -> list[Place]:
    """List every field and entry of a document."""
    places: list[Place] = []
    left = [data]
    while left:
        inside = left.pop()
        for name in list(inside) if isinstance(inside, dict) else range(len(inside)):
            places.append((inside, name))
            if isinstance(inside[name], dict | list):
                left.append(inside[name])
    return places


def replace_value(rng: random.Random, place: Place, every: list[Place]) -> None:
    inside, name = place
    inside[name] = rng.choice(ODD)


def copy_value(rng: random.Random, place: Place, every: list[Place]) -> None:
    """Replace a value by a copy of another one."""
    (inside, name), (other, there) = place, rng.choice(every)
    inside[name] = json.loads(json.dumps(other[there]))


def delete_value(rng: random.Random, place: Place, every: list[Place]) -> None:
    inside, name = place
    del inside[name]


def duplicate_entry(rng: random.Random, place: Place, every: list[Place]) -> None:
    inside, name = place
    if isinstance(inside, list):
        inside.insert(rng.randrange(len(inside) + 1), json.loads(json.dumps(inside[name])))
    else:
        inside[f"{name}{rng.choice(['', 's', '_', ' '])}"] = inside[name]


def nudge_number(rng: random.Random, place: Place, every: list[Place]) -> None:
    """Change a number to one nearby or far away, also within text."""
    inside, name = place
    value = inside[name]
    if isinstance(value, str) and (numbers := list(re.finditer(r"\d+", value))):
        chosen = rng.choice(numbers)
        number = str(_other(rng, int(chosen[0][:20])))
        inside[name] = value[: chosen.start()] + number + value[chosen.end() :]
    elif isinstance(value, int | float):
        inside[name] = _other(rng, value)
    else:
        replace_value(rng, place, every)


def _other(rng: random.Random, value: Any) -> Any:
    return rng.choice(
        [value + 1, value - 1, value * 2, value * 1000, -value, value / 3, value * value]
    )


def alter_letter(rng: random.Random, place: Place, every: list[Place]) -> None:
    """Change a letter of a text or of a name."""
    inside, name = place
    if isinstance(inside[name], str) and inside[name]:
        text, at = inside[name], rng.randrange(len(inside[name]))
        inside[name] = (
            text[:at] + chr(rng.choice([32, 40, 42, 44, 48, 57, 97, 0x1B])) + text[at + 1 :]
        )
    elif isinstance(inside, dict):
        inside[rng.choice(["id", "cycles", "why", "x", "", "lang", "further"])] = inside.pop(name)
    else:
        replace_value(rng, place, every)


MUTATIONS: list[Callable[[random.Random, Place, list[Place]], None]] = [
    *(replace_value, copy_value, delete_value, duplicate_entry, nudge_number, alter_letter),
]


def change(rng: random.Random, data: Any) -> None:
    """Change one to four entries of a document."""
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        if every := places(data):
            rng.choice(MUTATIONS)(rng, rng.choice(every), every)


def mutated(rng: random.Random, text: str) -> str:
    """Return a file with some changes. One in ten is not JSON or has a key twice."""
    data = json.loads(text)
    change(rng, data)
    content = json.dumps(data, ensure_ascii=rng.random() < 0.5)
    if rng.random() < 0.9:
        return content
    at = rng.randrange(len(content))
    return rng.choice(
        [
            content[:at],
            content[:at] + chr(rng.randrange(256)) + content[at + 1 :],
            content.replace('"id":', '"id": 1, "id":', 1),
            content.replace("1", "9" * 5000, 1),
            "[" * 100_000 + content,
            content + content,
        ]
    )
