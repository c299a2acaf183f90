"""Linkage inside atoms by log-likelihood, for someone who knows every atom's true mean and covariance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.attack.atoms.atom_linking import Cell, cells, link_cells
from sfumato.attack.catalogue import entry
from sfumato.attack.engine.blocks import WIDE_ATOM, blocks_of
from sfumato.attack.engine.interface import Attack, Deadline, NothingFoundError, needs_same_columns
from sfumato.attack.engine.knowledge import FloatArray, Guess, IntArray, Knowledge

#: correlations of released with original rows that are tried; None stands for noise added to the rows
MODELS: tuple[float | None, ...] = (None, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.97, 0.995)
#: people by whom the law is chosen, and pairs of people and rows that are weighed at once
_PEOPLE, _PAIRS = 300, 500_000


def root_inverse(covariance: FloatArray) -> tuple[FloatArray, float]:
    """Return the symmetric root of the inverse of a covariance, and the log of its determinant.

    Parameters
    ----------
    covariance : array of shape (d, d)
        May be singular or have negative eigenvalues: they are lifted to 1e-9 of the largest.

    Returns
    -------
    tuple of array of shape (d, d) and float

    Examples
    --------
    >>> root, volume = root_inverse(np.diag([4.0, 1.0]))
    >>> root.tolist(), round(volume, 3)
    ([[0.5, 0.0], [0.0, 1.0]], 1.386)
    """
    values, vectors = np.linalg.eigh(covariance)
    values = np.maximum(values, 1e-9 * max(float(values[-1]), 1e-12))
    return (vectors / np.sqrt(values)) @ vectors.T, float(np.log(values).sum())


@dataclass(frozen=True, eq=False)
class _Whitening:
    """Mean of a cell, and of each block of columns the root of its inverse covariance and its log-determinant."""

    mean: FloatArray
    roots: list[tuple[FloatArray, float]]


@dataclass(frozen=True, eq=False)
class _Law:
    """People and rows of one cell in one block of columns as the laws see them: centred, and with unit covariance."""

    people: FloatArray
    rows: FloatArray
    white_people: FloatArray
    white_rows: FloatArray
    volume: float

    def log_ratio(self, model: float | None, noise: tuple[FloatArray, float]) -> FloatArray:
        """Return log p(y | x) - log p(y): a row that would suit everybody says little about anybody."""
        length = (self.white_rows**2).sum(axis=1)
        if model is None:
            root, volume = noise
            squares = _squares(self.people @ root, self.rows @ root)
            return np.asarray(0.5 * (length + self.volume - volume - squares))
        left = 1.0 - model**2
        squares = _squares(model * self.white_people, self.white_rows)
        return np.asarray(0.5 * (length - squares / left - self.rows.shape[1] * np.log(left)))


def _log_ratio(laws: list[_Law], model: float | None, noise: _Whitening) -> FloatArray:
    """Return the log of the ratio of all columns: blocks are taken for independent of one another."""
    parts = [law.log_ratio(model, one) for law, one in zip(laws, noise.roots, strict=True)]
    return sum(parts[1:], parts[0])


class AtomLikelihood(Attack):
    """Link by log p(y | x) - log p(y) within the atom, under the law of release that explains the known people best.

    Laws: noise whose covariance is what the release has more than the originals, and rows that keep a correlation
    with their originals, from 5 to 99.5 per cent.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> draw = np.random.default_rng(0)
    >>> table = draw.normal(size=(300, 4)) @ draw.normal(size=(4, 4))
    >>> run_attack(AtomLikelihood(), table, table + 0.02 * draw.normal(size=table.shape)).rate > 0.7
    True
    """

    entry = entry("atom-likelihood")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when columns do not correspond or there is no clustering."""
        assert knowledge.clusterings is not None
        return needs_same_columns(knowledge) or (None if knowledge.clusterings.centres else "there are no clusters")

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return the most probable rows."""
        assert knowledge.records is not None
        held = cells(knowledge)
        if not held:
            raise NothingFoundError("no known person shares all labels with a released row")
        noise, seen, true = _moments(knowledge, held, deadline)

        def law(position: int, part: IntArray) -> list[_Law]:
            assert knowledge.records is not None
            assert knowledge.clusterings is not None
            place = knowledge.clusterings.place
            people = place(knowledge.records[part]) - true[position].mean
            rows = place(knowledge.released[held[position].rows]) - seen[position].mean
            theirs, ours = true[position].roots, seen[position].roots
            return [
                _Law(people[:, block], rows[:, block], people[:, block] @ own, rows[:, block] @ root, volume)
                for block, (own, _), (root, volume) in zip(
                    blocks_of(rows.shape[1], WIDE_ATOM), theirs, ours, strict=True
                )
            ]

        totals = np.zeros(len(MODELS))
        for position, cell in enumerate(held):
            deadline.check()
            few = cell.people[cell.people < _PEOPLE]  # people come in random order
            few = few[: max(1, _PAIRS // len(cell.rows))]
            if few.size:
                seen_by = law(position, few)
                totals += [_explained(_log_ratio(seen_by, model, noise)) for model in MODELS]
        best = MODELS[int(np.argmax(totals))]
        name = "added noise" if best is None else f"correlation {best:g}"
        return link_cells(
            len(knowledge.records),
            held,
            lambda position, part: -_log_ratio(law(position, part), best, noise),
            deadline,
            width=2,
            note=f"linked under the law: {name}",
        )


def _explained(ratio: FloatArray) -> float:
    """Return the log of the mean ratio of every person, added up: each is one of the rows."""
    top = ratio.max(axis=1)
    return float((top + np.log(np.exp(ratio - top[:, None]).mean(axis=1))).sum())


def _squares(x: FloatArray, y: FloatArray) -> FloatArray:
    return np.asarray(np.maximum((x**2).sum(axis=1)[:, None] + (y**2).sum(axis=1) - 2 * x @ y.T, 0.0))


def _moments(
    knowledge: Knowledge, held: list[Cell], deadline: Deadline
) -> tuple[_Whitening, list[_Whitening], list[_Whitening]]:
    """Return the noise that the release added, and the moments of every cell, as released and as they truly were."""
    assert knowledge.clusterings is not None
    assert knowledge.atom_moments is not None
    truth = knowledge.atom_moments
    blocks = blocks_of(knowledge.n_columns, WIDE_ATOM)
    place, released = knowledge.clusterings.place, knowledge.released
    means = [place(released[cell.rows]).mean(axis=0) for cell in held]
    atom_of = {code.tobytes(): atom for atom, code in enumerate(np.ascontiguousarray(truth.codes))}
    atoms = [atom_of.get(np.ascontiguousarray(cell.code).tobytes()) for cell in held]
    noise: list[tuple[FloatArray, float]] = []
    seen = [_Whitening(mean, []) for mean in means]
    true = [
        _Whitening(mean if atom is None else truth.means[atom], []) for mean, atom in zip(means, atoms, strict=True)
    ]
    for number, block in enumerate(blocks):
        d, their_pooled, theirs = block.stop - block.start, truth.pooled[number], truth.covariances[number]
        points = [place(released[cell.rows])[:, block] - mean[block] for cell, mean in zip(held, means, strict=True)]
        scatters = [one.T @ one for one in points]
        pooled = np.sum(scatters, axis=0) / sum(len(cell.rows) for cell in held)
        noise.append(root_inverse(pooled - their_pooled))
        for position, (cell, scatter, atom) in enumerate(zip(held, scatters, atoms, strict=True)):
            deadline.check()
            # a small atom's covariance is singular: it borrows from all atoms together, as much as d rows weigh
            seen[position].roots.append(root_inverse((scatter + d * pooled) / (len(cell.rows) + d)))
            size = 0 if atom is None else int(truth.sizes[atom])
            own = theirs[atom] if atom is not None and atom < len(theirs) else their_pooled
            true[position].roots.append(root_inverse((size * own + d * their_pooled) / (size + d)))
    return _Whitening(np.zeros(knowledge.n_columns), noise), seen, true
