"""Hybrid perturbation (HDP of the GDTM paper): an operation of its own for each column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sfumato._arrays import Floats
from sfumato.core.keys import Key
from sfumato.core.passes import Facts, Rounds
from sfumato.core.rows import Rows
from sfumato.core.secret import Hidden
from sfumato.core.stream import Streams
from sfumato.exceptions import ParameterError
from sfumato.perturb.mechanism.invertible import Invertible
from sfumato.perturb.mechanism.parameters import draw_uniforms, is_number, revealed
from sfumato.perturb.perturbers.rotation import Turn, choose_angles, column_position
from sfumato.perturb.perturbers.scaling import draw_factor
from sfumato.perturb.perturbers.translation import draw_offset


@dataclass(frozen=True, repr=False)
class _Add(Hidden):
    column: int
    offset: float

    def apply(self, tile: Floats) -> None:
        tile[self.column] += self.offset

    def undo(self, tile: Floats) -> None:
        tile[self.column] -= self.offset


@dataclass(frozen=True, repr=False)
class _Multiply(Hidden):
    column: int
    factor: float

    def apply(self, tile: Floats) -> None:
        tile[self.column] *= self.factor

    def undo(self, tile: Floats) -> None:
        tile[self.column] /= self.factor


Step = _Add | _Multiply | Turn


class Hybrid(Invertible):
    """Add to, multiply or rotate each column, each in its own way.

    The paper's HDP. A rotation turns both of its columns; steps are applied in the order of the columns, and
    undone in reverse. Like every linear map it is undone by d + 1 known records.

    Parameters
    ----------
    operations : sequence, optional
        For each column ("add", e), ("mult", e), ("rotate", degrees, other column), or None for a column that
        another one's rotation takes along. None for all draws operations and terms by the key; rotations then
        work in units of the columns' ranges.
    key, release, insecure_seed, columns
        See `Perturber`.

    Examples
    --------
    Figure 5 of the paper: two years more, 7 % less.

    >>> import numpy as np
    >>> table = np.array([[29.0, 48000.0], [38.0, 72000.0]])
    >>> Hybrid(operations=[("add", 2), ("mult", 0.93)]).fit_transform(table).round(6).tolist()
    [[31.0, 44640.0], [40.0, 66960.0]]
    """

    method_id: ClassVar[str] = "hdp"

    def __init__(
        self,
        operations: Sequence[tuple[Any, ...] | None] | None = None,
        *,
        key: Key | None = None,
        release: str = "r0",
        insecure_seed: int | None = None,
        columns: Sequence[str | int] | None = None,
    ) -> None:
        self.operations = operations
        self.key = key
        self.release = release
        self.insecure_seed = insecure_seed
        self.columns = columns

    def _rounds(self, facts: Facts, streams: Streams) -> Rounds:
        yield from ()  # the survey says enough: no rounds
        if self.operations is None:
            return draw_steps(facts, streams)
        return given_steps(revealed(self.operations), facts.names)

    def _kernel(self, fitted: tuple[Step, ...], tile: Floats, rows: Rows, streams: Streams) -> Floats:
        for step in fitted:
            step.apply(tile)
        return tile

    def _inverse(self, fitted: tuple[Step, ...], tile: Floats) -> Floats:
        for step in reversed(fitted):
            step.undo(tile)
        return tile


def draw_steps(facts: Facts, streams: Streams) -> tuple[Step, ...]:
    """Return steps drawn by the key: every column is touched by one operation."""
    steps: list[Step] = []
    width = np.where(facts.high > facts.low, facts.high - facts.low, 1.0)
    column = 0
    while column < facts.n_columns:
        name = facts.names[column]
        kind = int(3 * draw_uniforms(streams, "operation", name, 1)[0])
        if kind == 2 and column + 1 < facts.n_columns:
            angle = choose_angles(None, 1, streams.child(name))[0]
            steps.append(Turn.of(column, column + 1, angle, float(width[column]) / float(width[column + 1])))
            column += 2
            continue
        if kind == 0:
            steps.append(_Add(column, draw_offset(streams, facts, column)))
        else:
            steps.append(_Multiply(column, draw_factor(streams, name)))
        column += 1
    return tuple(steps)


def given_steps(operations: Any, names: tuple[str, ...]) -> tuple[Step, ...]:
    """Return the steps that a user's list of operations describes."""
    if len(operations) != len(names):
        raise ParameterError(
            f"Hybrid: {len(operations)} operation(s) for {len(names)} column(s)",
            hint=f"give one for each of: {', '.join(names)}; None for a column that another one's rotation takes along",
        )
    steps: list[Step] = []
    touched: set[int] = set()
    for column, operation in enumerate(operations):
        if operation is None:
            continue
        step = _given_step(column, operation, names)
        touched |= {step.first, step.second} if isinstance(step, Turn) else {column}
        steps.append(step)
    left_out = [name for i, name in enumerate(names) if i not in touched]
    if left_out:
        raise ParameterError(
            f"Hybrid: no operation touches {', '.join(left_out)}; it would be released as it is",
            hint="give it an operation, or leave it out with columns=[...]",
        )
    return tuple(steps)


def _given_step(column: int, operation: Any, names: tuple[str, ...]) -> Step:
    sizes = {"add": 2, "mult": 2, "rotate": 3}
    kind = operation[0] if isinstance(operation, list | tuple) and operation else None
    size = sizes.get(kind) if isinstance(kind, str) else None
    if size is None or len(operation) != size or not is_number(operation[1]):
        raise ParameterError(
            f"Hybrid: the operation of column {names[column]!r} is not one of "
            "('add', number), ('mult', number), ('rotate', degrees, other column)"
        )
    term = float(operation[1])
    if kind == "add":
        return _Add(column, term)
    if kind == "mult":
        if term == 0.0:
            raise ParameterError(f"Hybrid: a factor of 0 would erase column {names[column]!r}")
        return _Multiply(column, term)
    other = column_position(operation[2], names, owner="Hybrid")
    if other == column:
        raise ParameterError(f"Hybrid: column {names[column]!r} is rotated with itself")
    return Turn.of(column, other, term)
