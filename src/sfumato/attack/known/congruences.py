"""Values in some modulus: what was multiplied, moved by the row's number and written modulo something is read back."""

from __future__ import annotations

import numpy as np

from sfumato.attack.catalogue import entry
from sfumato.attack.engine.bits import whole_units
from sfumato.attack.engine.blocks import followers
from sfumato.attack.engine.congruences import Cancelled, binomials
from sfumato.attack.engine.interface import Attack, Deadline, NothingFoundError, needs_known_rows
from sfumato.attack.engine.knowledge import Guess, Knowledge, guess_values
from sfumato.attack.places.place_codes import codes_of

_FEWEST = 8
_WIDE = 40  # columns beyond which only the column of the same place, and the next, are looked at
_DEGREE = 2  # of the row's number


class Congruences(Attack):
    """Solve for an original column as a multiple of released digits, and of the row's number, in a modulus.

    Examples
    --------
    >>> from sfumato.attack import run_attack
    >>> table = np.random.default_rng(0).integers(0, 5000, size=(400, 2))
    >>> run_attack(Congruences(), table, (table * 1237 + np.arange(400)[:, None]) % 10000).rate
    1.0
    """

    entry = entry("congruences")

    def objection(self, knowledge: Knowledge) -> str | None:
        """Return a reason when too few people are known to be sure."""
        return needs_known_rows(knowledge, _FEWEST)

    def run(self, knowledge: Knowledge, deadline: Deadline) -> Guess:
        """Return the columns that are read back; nothing for the others."""
        assert knowledge.pairs is not None
        assert knowledge.marginals is not None
        rows, values, public = knowledge.pairs.rows, knowledge.pairs.values, knowledge.marginals
        released, d = knowledge.released, knowledge.n_columns
        guess = np.full((knowledge.targets.size, d), np.nan)
        low, high = public.quantiles[0], public.quantiles[-1]
        units = {j: one for j in range(d) if (one := whole_units(values[:, j])) is not None and np.ptp(one[0])}
        places = binomials(np.arange(knowledge.n_rows), _DEGREE)
        for k in range(released.shape[1]):
            near = followers(k, d, d if d <= _WIDE else 2)
            open_ones = [j for j in near if j in units and np.isnan(guess[0, j])]
            if not open_ones or np.ptp(released[rows, k]) == 0:
                continue
            for codes in codes_of(released[:, k]):
                deadline.check(len(rows) * len(open_ones))
                seen = np.column_stack([codes, places])
                cancelled = Cancelled(seen[rows])
                for j in open_ones:
                    whole, base, digits = units[j]
                    scale = float(base) ** digits
                    first, last = (round(float(end * scale)) for end in (low[j], high[j]))
                    found = cancelled.congruence(whole)
                    if found is None or found.modulus * found.unit <= last - first or not found.weights[0]:
                        continue
                    told = found.of(seen[knowledge.targets]) * found.unit + found.start
                    told = (told - first) % (found.modulus * found.unit) + first
                    guess[:, j] = np.where(told <= last, told, np.nan) / scale
                open_ones = [j for j in open_ones if np.isnan(guess[:, j]).all()]
                if not open_ones:
                    break
        told_ones = int((~np.isnan(guess)).any(axis=0).sum())
        if not told_ones:
            raise NothingFoundError("no column is a multiple of released digits in a modulus")
        note = f"{told_ones} of {d} columns are multiples of released digits in a modulus"
        return guess_values(guess, note=note)
