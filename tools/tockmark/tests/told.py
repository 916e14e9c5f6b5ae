# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How the fuzz tests tell what they tried and what came of it: as properties in the JUnit file of
pytest, from which `make robustness` takes it.
"""

import json
from collections.abc import Callable, Mapping

Tell = Callable[[str, object], None]  # the fixture record_property


def tell(
    property_: Tell, what: str, count: int, seeds: int | range, came: Mapping[str, int]
) -> None:
    """So many inputs of a kind, of one seed or of each of a range, and what came of how many."""
    seed = f"{seeds.start} to {seeds.stop - 1}" if isinstance(seeds, range) else str(seeds)
    told = {"what": what, "count": count, "seed": seed, "came": dict(came)}
    property_("tried", json.dumps(told))
