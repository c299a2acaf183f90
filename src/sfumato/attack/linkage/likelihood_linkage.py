"""Link every known person to the row that the method's own noise law makes most probable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.blocks import blocks_of
from sfumato.attack.engine.interface import Attack, Deadline, needs_same_columns
from sfumato.attack.engine.knowledge import FloatArray, Guess, Knowledge
from sfumato.attack.engine.noise_law import NoiseLaw, has_noise_law, log_density, noise_law
from sfumato.attack.linkage.ina_width import half_widths
from sfumato.attack.linkage.linking import CELLS, link_best, link_nearest

#: log density of noise that the law rules out; finite, so that a slightly wrong bound does not rule out everybody
_IMPOSSIBLE = -50.0
_SAMPLE = 400


class LikelihoodLinkage(Attack):
    """Link by log p(y | x) under the public noise law; bounded noise rules most rows out at once.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> draw = np.random.default_rng(0)
    >>> table = draw.normal(size=(300, 6))
    >>> noisy = table + draw.uniform(-1, 1, size=table.shape)
    >>> told = {"method": "adp", "parameters": {"scale": 3**-0.5, "distribution": "uniform", "relative": False}}
    >>> better = run_attack(LikelihoodLinkage(), table, noisy, **told).rate
    >>> better > run_attack("nearest", table, noisy).rate + 0.1
    True
    """

    entry = entry("likelihood")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when no noise law is public."""
        reason = needs_same_columns(knowledge)
        if reason is not None:
            return reason
        if knowledge.method == "ina" or has_noise_law(knowledge):
            return None
        return "the law of the noise does not follow from the description"

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return the most probable rows."""
        assert knowledge.records is not None
        if not has_noise_law(knowledge):
            return self._independent_noise(knowledge, deadline)
        unit = _unit(knowledge.released)
        records, released = knowledge.records / unit, knowledge.released / unit
        laws = [_BlockLaw.of(knowledge, block, unit) for block in blocks_of(knowledge.n_columns)]

        def cost(part: slice) -> FloatArray:
            parts = [law.cost(records[part], released) for law in laws]
            return sum(parts[1:], parts[0])

        return _link_by_ratio(len(records), released, cost, deadline)

    @staticmethod
    def _independent_noise(knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Link through the width that the independent-noise method gave each record."""
        assert knowledge.records is not None
        released, records = knowledge.released, knowledge.records
        spread = released.std(axis=0) if knowledge.parameters.get("alpha") == "std" else np.ptp(released, axis=0)
        scale = np.where(spread > 0, spread, 1.0)
        generator = np.random.default_rng(knowledge.seed)
        few = generator.choice(len(released), size=min(_SAMPLE, len(released)), replace=False)
        beta = knowledge.number("beta", 5.0)
        found = half_widths(records, released[few], beta=beta, scale=scale)
        if found is None:
            return link_nearest(records / scale, released / scale, deadline)
        # the references are estimates, so the widths are: a bell of that width instead of a box
        unit = _unit(released)
        widths = (found + 0.15 * np.median(found, axis=0)) / unit
        widths = np.where(widths > 0, widths, 1.0)

        def cost(part: slice) -> FloatArray:
            total = np.zeros((len(records[part]), len(released)))
            for j in range(knowledge.n_columns):
                noise = (released[:, j][None, :] - records[part, j][:, None]) / (unit[j] * widths[part, j][:, None])
                total += noise**2 + np.log(widths[part, j] * np.sqrt(np.pi))[:, None]
            return total

        return _link_by_ratio(len(records), released / unit, cost, deadline)


@dataclass(frozen=True, eq=False)
class _BlockLaw:
    """The law of the noise in a block of columns, and what makes normal noise white there."""

    block: slice
    law: NoiseLaw
    white: FloatArray
    volume: float

    @classmethod
    def of(cls, knowledge: Knowledge, block: slice, unit: FloatArray) -> _BlockLaw:
        law = noise_law(knowledge, block)
        assert law is not None
        law = law.in_units_of(unit[block])
        return cls(block, law, *_whitening(law))

    def cost(self, records: FloatArray, released: FloatArray) -> FloatArray:
        """Return -log p(y | x) of these columns for people and rows."""
        records, released, law = records[:, self.block], released[:, self.block], self.law
        if law.kind == "normal":
            people, rows = records @ self.white, released @ self.white
            squares = (people**2).sum(axis=1)[:, None] + (rows**2).sum(axis=1) - 2 * people @ rows.T
            return np.asarray(squares / 2 + self.volume, dtype=np.float64)
        total = np.zeros((len(records), len(released)))
        for j in np.flatnonzero(law.sd > 0):
            noise = released[:, j][None, :] - records[:, j][:, None]
            total -= log_density(law, int(j), noise, _IMPOSSIBLE)
        return total


def _unit(released: FloatArray) -> FloatArray:
    spread = released.std(axis=0)
    return np.asarray(np.where(spread > 0, spread, 1.0), dtype=np.float64)


def _background(released: FloatArray) -> FloatArray:
    """Return the log density of every row under a normal law fitted to the release (columns of unit variance)."""
    parts = []
    for block in blocks_of(released.shape[1]):
        some = released[:, block]
        values, vectors = np.linalg.eigh(np.atleast_2d(np.cov(some, rowvar=False)))
        values = np.maximum(values, 1e-6)
        scores = (some - some.mean(axis=0)) @ vectors
        parts.append(-0.5 * ((scores**2 / values).sum(axis=1) + np.log(2 * np.pi * values).sum()))
    return np.asarray(sum(parts[1:], parts[0]), dtype=np.float64)


def _link_by_ratio(people: int, released: FloatArray, cost: Callable[[slice], FloatArray], deadline: Deadline) -> Guess:
    """Link by p(y | x) / p(y): a row that would suit many people says little about any of them.

    All costs are -log p(y | x). p(y) adds up the known people and, for the others, a normal background.
    """
    rows = len(released)
    least = np.full(rows, np.inf)
    total = np.zeros(rows)
    size = max(1, CELLS // max(rows, 1))
    kept: dict[int, FloatArray] = {}
    for begin in range(0, people, size):
        deadline.check()
        block = cost(slice(begin, min(begin + size, people)))
        if begin * rows < 4 * CELLS:  # what fits in memory is not computed twice
            kept[begin] = block
        lower = np.minimum(least, block.min(axis=0))
        total = total * np.where(np.isfinite(least), np.exp(np.minimum(lower - least, 0.0)), 0.0)
        total += np.exp(lower - block).sum(axis=0)
        least = lower
    others = max(rows - people, 0)
    common = least - np.log(total)
    if others:
        common = -np.logaddexp(-common, np.log(others) + _background(released))

    def relative(part: slice) -> FloatArray:
        return np.asarray((kept[part.start] if part.start in kept else cost(part)) - common, dtype=np.float64)

    return link_best(people, rows, relative, deadline)


def _whitening(law: NoiseLaw) -> tuple[FloatArray, float]:
    """Return the matrix that makes the noise white, and -log of its density at 0."""
    unit = np.where(law.sd > 0, law.sd, 1.0)
    values, vectors = np.linalg.eigh(law.covariance / np.outer(unit, unit))
    values = np.maximum(values, 1e-9 * max(float(values.max()), 1e-300))
    volume = 0.5 * float(np.log(2 * np.pi * values).sum()) + float(np.log(unit).sum())
    return np.asarray(vectors / np.sqrt(values) / unit[:, None], dtype=np.float64), volume
