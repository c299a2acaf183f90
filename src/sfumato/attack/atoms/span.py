"""Few rows that were mixed among each other span what they were: some values of a person give the others."""

from __future__ import annotations

import numpy as np

from sfumato.attack.atoms.atom_mean import release_atoms
from sfumato.attack.catalogue import entry
from sfumato.attack.engine.decimals import rounding_error, snap
from sfumato.attack.engine.interface import Attack, Deadline, NothingFoundError, needs_same_columns
from sfumato.attack.engine.knowledge import FloatArray, Guess, IntArray, Knowledge, guess_values


def complete(
    rows: FloatArray, columns: IntArray, values: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray] | None:
    """Return records in the span of some rows that have the given values.

    Parameters
    ----------
    rows : array of shape (r, d)
        Released rows of one atom.
    columns : array of shape (c,)
        Known columns.
    values : array of shape (m, c)
        Known values of people.

    Returns
    -------
    tuple or None
        Completed records of shape (m, d); what of the known values is left over, largest cell, shape (m,); and the
        length of the coefficients, shape (m,): mixing leaves it at most 1. None where the known columns do not fix
        the others.

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
    # the known columns must fix as many directions as the rows have
    if not np.any(known) or _directions(known) < _directions(centred):
        return None
    coefficients = (values - mean[columns]) @ np.linalg.pinv(known, rcond=1e-9)
    found = mean + coefficients @ centred
    left = np.abs(found[:, columns] - values).max(axis=1)
    return found, left, np.sqrt((coefficients**2).sum(axis=1))


def _directions(centred: FloatArray) -> int:
    """Return how many directions rows have, beyond the rounding of their mean."""
    lengths = np.linalg.svd(centred, compute_uv=False)
    return int((lengths > 1e-9 * lengths[0]).sum())


class Span(Attack):
    """Complete half-known records in the span of every small atom, and keep the atom that fits a person best.

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
        columns, values = knowledge.attributes.columns, knowledge.attributes.values
        released = knowledge.released
        atoms = release_atoms(knowledge, deadline)
        small = np.flatnonzero((atoms.sizes >= 2) & (atoms.sizes - 1 <= len(columns)))
        if not small.size:
            raise NothingFoundError(f"every cell has more rows than the {len(columns)} known columns can fix")
        unit = np.where(released.std(axis=0) > 0, released.std(axis=0), 1.0)
        rounded = np.array([rounding_error(released[:, j]) for j in columns]) / unit[columns]
        allowed = max(1e-6, 4.0 * float(rounded.max()))
        guess = np.full((len(values), knowledge.n_columns), np.nan)
        best = np.full((len(values), 2), np.inf)
        for atom in small:
            deadline.check()
            rows = released[atoms.of_row == atom] / unit
            solved = complete(rows, columns, values / unit[columns])
            if solved is None:
                continue
            found, left, length = solved
            # what fits equally well is told apart by the length: far from the atom it is large
            rank = np.column_stack([np.floor(left / allowed), length])
            fits = (left <= allowed) & (length <= 1.0 + 1e-6 + allowed)
            better = fits & ((rank[:, 0] < best[:, 0]) | ((rank[:, 0] == best[:, 0]) & (rank[:, 1] < best[:, 1])))
            guess[better], best[better] = found[better] * unit, rank[better]
        answered = np.isfinite(best[:, 0])
        if not answered.any():
            raise NothingFoundError("no known person lies in the span of a small cell")
        guess = snap(guess, knowledge.decimals)
        return guess_values(guess, note=f"{len(small)} small cells, {int(answered.sum())} people in their span")
