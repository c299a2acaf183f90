"""Few rows that were mixed among each other span what they were: some values of a person give the others.

Mixing by an orthogonal matrix keeps the span of the rows, pulling a row towards the mean of its atom moves it along a
line in it, and shrinking the columns inside atoms is undone with public standard deviations. So half of a record fixes
the rest wherever an atom has no more rows than that half has columns, up to rounding.
"""

from __future__ import annotations

import numpy as np

from sfumato.attack.atoms.atom_mean import release_atoms
from sfumato.attack.atoms.regions import Atoms
from sfumato.attack.catalogue import entry
from sfumato.attack.engine.decimals import rounding_error, snap
from sfumato.attack.engine.interface import Attack, Deadline, NothingFoundError, needs_same_columns
from sfumato.attack.engine.knowledge import FloatArray, Guess, IntArray, Knowledge, guess_values

_NOISE = 0.01  # what clipping and recentring do to a cell, in standard deviations
_ALLOWED = 0.04  # what may be left over of a known value, in standard deviations
_LONGEST = 2.0  # length of coefficients: mixing leaves it below 1, and clipping shortens the rows
_SPREADS = (0.2, 1.5)  # factors of columns inside atoms that are believed


def complete(
    rows: FloatArray, columns: IntArray, values: FloatArray, noise: float = 1e-6
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the records most probably mixed into some rows that have the given values, up to noise.

    Parameters
    ----------
    rows : array of shape (r, d)
        Released rows of one atom.
    columns : array of shape (c,)
        Known columns.
    values : array of shape (m, c)
        Known values of people.
    noise : float
        Standard deviation by which rows may lie beside the span.

    Returns
    -------
    tuple
        Completed records of shape (m, d); what of the known values is left over, root of the mean square, shape (m,);
        and the length of the coefficients, shape (m,): mixing leaves it at most 1.

    Examples
    --------
    >>> rows = np.array([[0.0, 0.0, 1.0], [2.0, 4.0, 3.0]])
    >>> found, left, length = complete(rows, np.array([0, 1]), np.array([[1.5, 3.0]]))
    >>> found.round(6).tolist(), float(left.round(6)[0])
    ([[1.5, 3.0, 2.5]], 0.0)
    """
    mean = rows.mean(axis=0)
    centred = rows - mean
    known = centred[:, columns]
    # coefficients of a random mixture have variance 1 / rows: the most probable ones are those of a ridge regression
    gram = known @ known.T + len(rows) * noise**2 * np.eye(len(rows))
    coefficients = np.linalg.solve(gram, known @ (values - mean[columns]).T).T
    found = mean + coefficients @ centred
    left = np.sqrt(((found[:, columns] - values) ** 2).mean(axis=1))
    return found, left, np.sqrt((coefficients**2).sum(axis=1))


def _fixed_by(columns: IntArray, rows: FloatArray) -> bool:
    """Tell whether some columns fix as many directions as the rows have; others may fit anybody."""
    centred = rows - rows.mean(axis=0)
    return bool(np.any(centred[:, columns])) and _directions(centred[:, columns]) >= _directions(centred)


def _directions(centred: FloatArray) -> int:
    """Return how many directions rows have, beyond the rounding of their mean."""
    lengths = np.linalg.svd(centred, compute_uv=False)
    return int((lengths > 1e-9 * lengths[0]).sum())


def spread_inside(points: FloatArray, atoms: Atoms) -> FloatArray:
    """Return by which factor each column was shrunk inside atoms, whose means stay.

    Parameters
    ----------
    points : array of shape (n, d)
        Released rows in deviations of the original: its variance is 1.
    atoms : Atoms
        Of the released rows.

    Examples
    --------
    >>> draw = np.random.default_rng(0)
    >>> points = np.repeat([[-0.8], [0.8]], 500, axis=0) + 0.5 * 0.6 * draw.normal(size=(1000, 1))
    >>> sides = Atoms(np.repeat([0, 1], 500), np.array([[0], [1]]), np.array([500, 500]))
    >>> spread_inside(points, sides).round(1)
    array([0.5])
    """
    means = atoms.means(points)[atoms.of_row]
    inside = ((points - means) ** 2).mean(axis=0)
    between = ((means - points.mean(axis=0)) ** 2).mean(axis=0)
    squared = np.divide(inside, 1.0 - between, out=np.ones_like(inside), where=between < 1.0 - 1e-6)
    factors: FloatArray = np.clip(np.sqrt(squared), *_SPREADS)
    return factors


class Span(Attack):
    """Complete half-known records in the span of small atoms: of a person's own, or of the one that fits best.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> draw = np.random.default_rng(0)
    >>> table = draw.normal(size=(40, 8))
    >>> groups = np.repeat(np.arange(10), 4)
    >>> mixed = np.array(table)
    >>> for group in range(10):
    ...     rows = table[groups == group]
    ...     turn = np.linalg.qr(draw.normal(size=(3, 3)))[0]
    ...     basis = np.linalg.qr(np.column_stack([np.ones(4), draw.normal(size=(4, 3))]))[0][:, 1:]
    ...     mixed[groups == group] = rows.mean(axis=0) + basis @ turn @ basis.T @ rows
    >>> run_attack(Span(), table, mixed, labels={10: groups}).rate > 0.9
    True
    """

    entry = entry("span")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when columns do not correspond or nothing is left to be told."""
        assert knowledge.attributes is not None
        if len(knowledge.attributes.columns) == knowledge.n_columns:
            return "a single column has no halves"
        return needs_same_columns(knowledge)

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return the records of the people whose known values lie in the span of a small atom."""
        assert knowledge.attributes is not None
        assert knowledge.marginals is not None
        columns, people = knowledge.attributes.columns, knowledge.attributes.atoms
        atoms = knowledge.atoms or release_atoms(knowledge, deadline)
        least = max(2, int(knowledge.number("min_atom", 2)))  # smaller ones are mixed with others
        small = np.flatnonzero((atoms.sizes >= least) & (atoms.sizes - 1 <= len(columns)))
        if not small.size:
            raise NothingFoundError(f"every cell has more rows than the {len(columns)} known columns can fix")
        centre, unit = knowledge.marginals.mean, np.where(knowledge.marginals.sd > 0, knowledge.marginals.sd, 1.0)
        points = (knowledge.released - centre) / unit
        values = (knowledge.attributes.values - centre[columns]) / unit[columns]
        rounded = np.array([rounding_error(column) for column in points.T])
        noise = float(np.hypot(_NOISE, np.sqrt((rounded**2).mean() / 3)))
        spread = spread_inside(points, atoms)
        guess = np.full((len(values), knowledge.n_columns), np.nan)
        best = np.full(len(values), np.inf)
        for atom in small:
            deadline.check(len(points))
            rows = points[atoms.of_row == atom]
            rows = rows.mean(axis=0) + (rows - rows.mean(axis=0)) / spread
            asked = np.arange(len(values)) if people is None else np.flatnonzero(people == atom)
            if not asked.size or (people is None and not _fixed_by(columns, rows)):
                continue
            found, left, length = complete(rows, columns, values[asked], noise)
            fits = (left <= _ALLOWED) & (length <= _LONGEST)
            # what fits equally well is told apart by the length: far from the atom it is large
            cost = (left / noise) ** 2 * len(columns) + len(rows) * length**2
            better = fits & (cost < best[asked])
            guess[asked[better]], best[asked[better]] = found[better], cost[better]
        answered = np.isfinite(best)
        if not answered.any():
            raise NothingFoundError("no known person lies in the span of a small cell")
        guess = snap(guess * unit + centre, knowledge.decimals)
        return guess_values(guess, note=f"{len(small)} small cells, {int(answered.sum())} people in their span")
