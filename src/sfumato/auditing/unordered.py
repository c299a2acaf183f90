"""The regulators' questions where nobody knows who is who, as for synthetic tables.

People are split in two. What the release tells of the second half is held against what the first half tells of it, row
by row as many: both are samples of one population if the release gives nobody away.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato._arrays import Floats
from sfumato.auditing.boosted import QUESTION, infer_by_trees
from sfumato.auditing.questions import FEWEST_ROWS, Answer, infer, link, single_out, sure_answer
from sfumato.frames.frame import is_dataframe, take_rows

_PEOPLE = 1_000
_ROWS = 20_000


def ask_without_order(original: Floats, released: Floats, *, seed: int = 0) -> tuple[Answer, ...]:
    """Ask the three questions without knowing which row is whose.

    Parameters
    ----------
    original, released : arrays of shapes (n, d) and (m, d)
        With fewer than two columns or eight rows no question can be asked.
    """
    if original.shape[1] < 2 or min(len(original) // 2, len(released)) < FEWEST_ROWS:
        return ()
    generator = np.random.default_rng([seed, 61])
    spread = original.std(axis=0)
    unit = np.where(spread > 0, spread, 1.0)
    order = generator.permutation(len(original))[:_ROWS]
    size = min(len(order) // 2, len(released))
    strangers, people = original[order[:size]] / unit, original[order[size : 2 * size]] / unit
    view = released[generator.permutation(len(released))[:size]] / unit
    asked = generator.permutation(len(people))[:_PEOPLE]
    columns = generator.permutation(original.shape[1])
    draws = [int(generator.integers(2**31)) for _ in range(2)]

    def both(ask: Any, *more: Any) -> list[Any]:
        return [ask(people, people, table, asked, *(make() for make in more))[0] for table in (view, strangers)]

    found = (
        ("singling out", both(single_out, lambda: np.random.default_rng(draws[0]))),
        ("linkability", both(link, lambda: columns)),
        ("inference", both(infer, lambda: np.random.default_rng(draws[1]))),
        (QUESTION, both(infer_by_trees, lambda: columns)),
    )
    return tuple(sure_answer(question, *hits) for question, hits in found)


def as_many_rows(original: Any, released: Any, *, seed: int = 0) -> tuple[Any, Any, str]:
    """Return as many rows of both tables, drawn at random, and a note; nothing changes for equally long ones.

    Parameters
    ----------
    original, released : dataframes or arrays
    """
    sizes = len(original), len(released)
    fewest = min(sizes)
    if sizes[0] == sizes[1] or fewest < FEWEST_ROWS:
        return original, released, ""
    generator = np.random.default_rng([seed, 62])
    tables = []
    for table, size in ((original, sizes[0]), (released, sizes[1])):
        chosen = np.zeros(size, dtype=np.bool_)
        chosen[generator.permutation(size)[:fewest]] = True
        plain = table if is_dataframe(table) else np.asarray(table)
        tables.append(take_rows(plain, chosen))
    note = (
        f"the original has {sizes[0]:,} rows and the release {sizes[1]:,}: {fewest:,} random rows of each were compared"
    )
    return tables[0], tables[1], note
