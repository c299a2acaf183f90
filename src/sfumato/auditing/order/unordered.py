"""The regulators' questions where nobody knows who is who, as for synthetic tables.

People are split in two. What the release tells of the second half is held against what the first half tells of it, row
by row as many: both are samples of one population if the release gives nobody away. Then the halves change places. One
sample may tell more than another by luck, as a model does that happened on a good one; a release that gives people away
tells more of both halves, so the smaller of the two rates is held against the larger of the two controls.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato._arrays import Floats
from sfumato.auditing.boosted import QUESTION, infer_by_trees
from sfumato.auditing.questions import FEWEST_ROWS, Answer, infer, least_answer, link, single_out
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
    halves = original[order[:size]] / unit, original[order[size : 2 * size]] / unit
    rows = generator.permutation(len(released))
    views = released[rows[:size]] / unit, released[rows[::-1][:size]] / unit  # other rows where there are enough
    asked = generator.permutation(size)[:_PEOPLE]
    columns = generator.permutation(original.shape[1])
    draws = [int(generator.integers(2**31)) for _ in range(2)]

    def answer(question: str, ask: Any, more: Any) -> Answer:
        found = []
        for turn in (0, 1):
            strangers, people = halves[turn], halves[1 - turn]
            told = tuple(ask(people, people, table, asked, more())[0] for table in (views[turn], strangers))
            found.append(told)
        return least_answer(question, found)

    return (
        answer("singling out", single_out, lambda: np.random.default_rng(draws[0])),
        answer("linkability", link, lambda: columns),
        answer("inference", infer, lambda: np.random.default_rng(draws[1])),
        answer(QUESTION, infer_by_trees, lambda: columns),
    )


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
