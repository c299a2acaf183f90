"""The best of all linkage attacks against what the labels alone give away: one row in each atom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sfumato.attack.atoms.regions import atoms_of, label_table
from sfumato.attack.catalogue import attacks
from sfumato.attack.engine.referee import Referee
from sfumato.attack.engine.result import best_of
from sfumato.core.numbers import number_table
from sfumato.exceptions import ParameterError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

#: people x rows that are compared
_PAIRS = 30_000_000


@dataclass(frozen=True)
class Linkage:
    """How many people are found in a release whose labels are public.

    Attributes
    ----------
    attack : str
        The strongest attack, chosen on half of the people.
    rate, low, high : float
        Share of the people that it links, measured on the people who did not choose it, and Wilson's interval.
    chance : float
        Atoms / rows: what someone reaches who knows a person's labels and draws one of the rows that share them.
    atoms, rows, people : int
        Atoms of the labels, rows of the release, people who were looked for.
    rates : mapping
        Attack -> share of the people that it links; None where it did not run.
    """

    attack: str
    rate: float
    low: float
    high: float
    chance: float
    atoms: int
    rows: int
    people: int
    rates: Mapping[str, float | None]


def best_linkage(
    original: ArrayLike,
    released: ArrayLike,
    labels: Mapping[int, ArrayLike] | ArrayLike,
    *,
    scaling: str = "std",
    people: int | None = None,
    names: Sequence[str] | None = None,
    seed: int = 0,
    **options: Any,
) -> Linkage:
    """Link known people to the rows of a release by every linkage attack, and return the best beside chance.

    The attacker holds people's full records, the labels of all released rows, the named centres, and the true mean
    and covariance of every atom.

    Parameters
    ----------
    original : array-like of shape (n, d)
        The tables before and after, row by row.
    released : array-like of shape (n, d)
        Row i is the release of row i of the original.
    labels : mapping of k to labels of shape (n,), or array-like of shape (n, number of clusterings)
        Named clusterings of the original.
    scaling : {'std', 'range', 'none'}
        The space in which they were found.
    people : int, optional
        How many people are looked for; by default everybody in small tables, at least 1,000 in large ones.
    names : sequence of str, optional
        Ids of the linkage attacks; None takes all.
    seed : int
        Chooses the people. Default: 0.
    **options
        Further parameters of `Referee`: method, parameters, work, ...

    Returns
    -------
    Linkage

    Examples
    --------
    >>> import numpy as np
    >>> draw = np.random.default_rng(0)
    >>> table = draw.normal(size=(400, 3))
    >>> labels = {2: table[:, 0] > 0}
    >>> best_linkage(table, table, labels).rate
    1.0
    >>> mixed = np.array(table)
    >>> for side in (True, False):
    ...     mixed[labels[2] == side] = draw.permutation(table[labels[2] == side])
    >>> found = best_linkage(table, mixed, labels)
    >>> found.chance, found.rate < 0.02
    (0.005, True)
    """
    truth = number_table(original, "original", finite=False)
    atoms = atoms_of(label_table(labels, len(truth)))
    known = min(len(truth), people or max(1_000, _PAIRS // len(truth)))
    linking = [row.id for row in attacks() if row.goal == "links" and "kinds" not in row.needs]
    chosen = linking if names is None else list(names)
    if not set(chosen) <= set(linking) or not chosen:
        raise ParameterError(f"names must be linkage attacks: {', '.join(linking)}")
    referee = Referee(truth, released, labels=labels, scaling=scaling, seed=seed, **options)
    results = {name: referee.run(name, known) for name in chosen}
    best = best_of(list(results.values()), seed=seed)
    if best is None or best.rate is None or best.low is None or best.high is None:
        reasons = "; ".join(f"{name}: {result.reason}" for name, result in results.items())
        raise ParameterError(f"no linkage attack ran ({reasons})")
    return Linkage(
        attack=best.attack,
        rate=best.rate,
        low=best.low,
        high=best.high,
        chance=len(atoms.sizes) / len(truth),
        atoms=len(atoms.sizes),
        rows=len(truth),
        people=known,
        rates={name: result.rate for name, result in results.items()},
    )
