# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Record the inputs and outcomes of the fuzz tests as properties in the JUnit file of pytest.
`make robustness` reads them there.
"""

import json
from collections.abc import Callable, Mapping

RecordProperty = Callable[[str, object], None]  # the fixture record_property


def record_tries(
    property_: RecordProperty,
    what: str,
    count: int,
    seeds: int | range,
    outcomes: Mapping[str, int],
) -> None:
    """Record the number of inputs of a kind, their seed or range of seeds, and the outcomes."""
    seed = f"{seeds.start} to {seeds.stop - 1}" if isinstance(seeds, range) else str(seeds)
    tries = {"what": what, "count": count, "seed": seed, "came": dict(outcomes)}
    property_("tried", json.dumps(tries))
