"""Linkage inside atoms by log-likelihood, for someone who knows every atom's true mean and covariance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.attack.atoms.atom_linking import Cell, cells, link_cells
from sfumato.attack.catalogue import entry
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
    """Mean of a cell, root of its inverse covariance, log of the determinant."""

    mean: FloatArray
    root: FloatArray
    volume: float


@dataclass(frozen=True, eq=False)
class _Law:
    """People and rows of one cell as the laws see them: centred, and with unit covariance."""

    people: FloatArray
    rows: FloatArray
    white_people: FloatArray
    white_rows: FloatArray
    volume: float

    def log_ratio(self, model: float | None, noise: _Whitening) -> FloatArray:
        """Return log p(y | x) - log p(y): a row that would suit everybody says little about anybody."""
        length = (self.white_rows**2).sum(axis=1)
        if model is None:
            squares = _squares(self.people @ noise.root, self.rows @ noise.root)
            return np.asarray(0.5 * (length + self.volume - noise.volume - squares))
        left = 1.0 - model**2
        squares = _squares(model * self.white_people, self.white_rows)
        return np.asarray(0.5 * (length - squares / left - self.rows.shape[1] * np.log(left)))


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

        def law(position: int, part: IntArray) -> _Law:
            assert knowledge.records is not None
            assert knowledge.clusterings is not None
            place = knowledge.clusterings.place
            people = place(knowledge.records[part]) - true[position].mean
            rows = place(knowledge.released[held[position].rows]) - seen[position].mean
            return _Law(people, rows, people @ true[position].root, rows @ seen[position].root, seen[position].volume)

        totals = np.zeros(len(MODELS))
        for position, cell in enumerate(held):
            deadline.check()
            few = cell.people[cell.people < _PEOPLE]  # people come in random order
            few = few[: max(1, _PAIRS // len(cell.rows))]
            if few.size:
                seen_by = law(position, few)
                totals += [_explained(seen_by.log_ratio(model, noise)) for model in MODELS]
        best = MODELS[int(np.argmax(totals))]
        name = "added noise" if best is None else f"correlation {best:g}"
        return link_cells(
            len(knowledge.records),
            held,
            lambda position, part: -law(position, part).log_ratio(best, noise),
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
    truth, d = knowledge.atom_moments, knowledge.n_columns
    means, scatters = [], []
    for cell in held:
        points = knowledge.clusterings.place(knowledge.released[cell.rows])
        means.append(points.mean(axis=0))
        scatters.append((points - means[-1]).T @ (points - means[-1]))
    pooled = np.sum(scatters, axis=0) / sum(len(cell.rows) for cell in held)
    atom_of = {code.tobytes(): atom for atom, code in enumerate(np.ascontiguousarray(truth.codes))}
    seen, true = [], []
    for cell, mean, scatter in zip(held, means, scatters, strict=True):
        deadline.check()
        # a small atom's covariance is singular: it borrows from all atoms together, as much as d rows weigh
        seen.append(_Whitening(mean, *root_inverse((scatter + d * pooled) / (len(cell.rows) + d))))
        atom = atom_of.get(np.ascontiguousarray(cell.code).tobytes())
        size = 0 if atom is None else int(truth.sizes[atom])
        own = truth.covariances[atom] if atom is not None and atom < len(truth.covariances) else truth.pooled
        centre = mean if atom is None else truth.means[atom]
        true.append(_Whitening(centre, *root_inverse((size * own + d * truth.pooled) / (size + d))))
    return _Whitening(np.zeros(d), *root_inverse(pooled - truth.pooled)), seen, true
