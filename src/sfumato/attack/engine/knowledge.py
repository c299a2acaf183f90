"""What an attacker holds, and what an attacker answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sfumato.attack.atoms.kept_clusterings import AtomMoments
    from sfumato.attack.atoms.regions import Atoms, Clusterings

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Marginals:
    """Public figures about the columns of the original (rung 1).

    Parameters
    ----------
    mean, sd : array of shape (d,)
        Mean and standard deviation of every column.
    levels : array of shape (q,)
        Probabilities of the quantiles, increasing from 0 to 1.
    quantiles : array of shape (q, d)
        Quantiles of every column.
    """

    mean: FloatArray
    sd: FloatArray
    levels: FloatArray
    quantiles: FloatArray


@dataclass(frozen=True, eq=False)
class Pairs:
    """People whose original record and whose row in the release are both known (rung 4).

    Parameters
    ----------
    rows : array of shape (m,)
        Row numbers in the released file.
    values : array of shape (m, d)
        Their original records.
    """

    rows: IntArray
    values: FloatArray


@dataclass(frozen=True, eq=False)
class Attributes:
    """People of the release of whom some columns are known (rung 3); their rows are not.

    Parameters
    ----------
    columns : array of shape (c,)
        Positions of the known columns.
    values : array of shape (m, c)
        What is known of each person.
    atoms : array of shape (m,), or None
        The atom of each person, where labels are told. Default: None.
    """

    columns: IntArray
    values: FloatArray
    atoms: IntArray | None = None


@dataclass(frozen=True, eq=False)
class Places:
    """Where people stand in the original file, as in a public list of them (rung 4).

    Parameters
    ----------
    rows : array of shape (m,)
        Released rows of some people.
    numbers : array of shape (m,)
        Their places in the original file.
    asked : array of shape (k,)
        Places of others, whose rows are to be found.
    """

    rows: IntArray
    numbers: IntArray
    asked: IntArray


@dataclass(frozen=True, eq=False)
class Kinds:
    """What the columns of a table of every kind hold; anybody sees that in the release.

    Parameters
    ----------
    categories : array of shape (d,)
        Columns whose values are equal or not, and nothing between.
    kept : array of shape (d,)
        Columns that are released as they are.
    """

    categories: NDArray[np.bool_]
    kept: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Knowledge:
    """Everything an attack may see; arrays are read-only copies.

    Parameters
    ----------
    released : array of shape (n, e)
        The released file, rows in the order of the file.
    columns : tuple of str, length d
        Names of the original columns.
    targets : array of shape (t,)
        Rows of the release whose originals are to be guessed. They are drawn without regard to what
        is known, so the list says nothing about where known people stand.
    method : str or None
        Public identifier of the method, if it is public.
    parameters : mapping
        Public parameters of the method. Default: <factory>.
    decimals : tuple of (int or None), or None
        Decimals of the original columns where they are public.
    marginals : Marginals or None
        Rung 1.
    sample : array of shape (s, d) or None
        Rung 2: people of the same population.
    records : array of shape (m, d) or None
        Rung 3: records of people in the release, rows unknown.
    pairs : Pairs or None
        Rung 4.
    attributes : Attributes or None
        Rung 3: some columns of people in the release. An attack that needs them guesses these people's records,
        in their order, not those of the target rows.
    clusterings : Clusterings or None
        Centres of the named clusterings, which the release is meant to carry.
    atom_moments : AtomMoments or None
        True moments of the rows that share all named labels.
    labels : array of shape (n, number of clusterings) or None
        Labels of the released rows, where they are published with the release.
    atoms : Atoms or None
        Released rows that share all labels, where labels are told.
    releases : tuple of arrays of shape (n, e)
        Further releases of the same table, rows in the same order. Default: none.
    kinds : Kinds or None
        Which columns hold categories and which are kept, for tables that have such columns.
    places : Places or None
        Where people stand in the original file.
    gaps : array of shape (n, e), or None
        Cells of the release that are missing, where some are; what stands there was filled in.
    seed : int
        For attacks that draw at random; unrelated to the choice of known people. Default: 0.

    Examples
    --------
    >>> import numpy as np
    >>> held = Knowledge(released=np.ones((5, 2)), columns=("a", "b"), targets=np.arange(5))
    >>> held.n_rows, held.n_columns, held.keeps_columns
    (5, 2, True)
    """

    released: FloatArray
    columns: tuple[str, ...]
    targets: IntArray
    method: str | None = None
    parameters: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    decimals: tuple[int | None, ...] | None = None
    marginals: Marginals | None = None
    sample: FloatArray | None = None
    records: FloatArray | None = None
    pairs: Pairs | None = None
    attributes: Attributes | None = None
    clusterings: Clusterings | None = None
    atom_moments: AtomMoments | None = None
    labels: IntArray | None = None
    atoms: Atoms | None = None
    releases: tuple[FloatArray, ...] = ()
    kinds: Kinds | None = None
    places: Places | None = None
    gaps: BoolArray | None = None
    seed: int = 0

    @property
    def n_rows(self) -> int:
        """Rows of the release."""
        return int(self.released.shape[0])

    @property
    def n_columns(self) -> int:
        """Columns of the original."""
        return len(self.columns)

    @property
    def keeps_columns(self) -> bool:
        """Whether the release has as many columns as the original."""
        return int(self.released.shape[1]) == len(self.columns)

    def number(self, name: str, default: float) -> float:
        """Return a public parameter that is a number.

        Parameters
        ----------
        name : str
            Name of the parameter.
        default : float
            What counts when it is not public, or no finite number.
        """
        value = self.parameters.get(name)
        usable = isinstance(value, int | float | np.integer | np.floating) and np.isfinite(value)
        return float(value) if usable else default  # type: ignore[arg-type]

    def array(self, name: str) -> FloatArray | None:
        """Return a public parameter that is an array of numbers, or None.

        Parameters
        ----------
        name : str
            Name of the parameter.
        """
        value: Any = self.parameters.get(name)
        if value is None:
            return None
        try:
            return np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError):
            return None


@dataclass(frozen=True, eq=False)
class Guess:
    """An attack's answer: values for the target rows, or rows for the known people.

    Parameters
    ----------
    values : array of shape (t, d) or (ties, t, d), or None
        Guessed originals of the target rows; NaN where there is no guess. With a first axis, every row
        holds several answers that the attacker cannot tell apart.
    candidates : tuple of integer arrays, or None
        For every known person the rows of the release that fit equally well; empty = no guess.
    complete : bool
        False when the time ran out and only a part is answered. Default: True.
    note : str
        What the attack found, in words without values. Default: "".
    """

    values: FloatArray | None = None
    candidates: tuple[IntArray, ...] | None = None
    complete: bool = True
    note: str = ""


def guess_values(values: FloatArray, *, note: str = "", complete: bool = True) -> Guess:
    """Return a guess of values.

    Parameters
    ----------
    values : array of shape (t, d) or (ties, t, d)
        Guessed originals of the target rows.
    note : str, optional
        What the attack found.
    complete : bool, optional
        False when only a part is answered.

    Returns
    -------
    Guess
        The answer.

    Examples
    --------
    >>> import numpy as np
    >>> guess_values(np.zeros((3, 2))).values.shape
    (3, 2)
    """
    return Guess(values=np.asarray(values, dtype=np.float64), note=note, complete=complete)


def guess_links(candidates: list[IntArray], *, note: str = "", complete: bool = True) -> Guess:
    """Return a guess of rows, one array of equally good rows per known person.

    Parameters
    ----------
    candidates : list of integer arrays
        Rows of the release; empty = no guess.
    note : str, optional
        What the attack found.
    complete : bool, optional
        False when only a part is answered.

    Returns
    -------
    Guess
        The answer.

    Examples
    --------
    >>> import numpy as np
    >>> len(guess_links([np.array([3]), np.array([1, 2])]).candidates)
    2
    """
    return Guess(
        candidates=tuple(np.asarray(rows, dtype=np.int64) for rows in candidates), note=note, complete=complete
    )


def frozen(values: FloatArray) -> FloatArray:
    """Return a read-only copy that shares no memory, as tables are handed out.

    Examples
    --------
    >>> frozen(np.zeros(2)).flags.writeable
    False
    """
    copied = np.array(values, dtype=np.float64, order="C", copy=True)
    copied.setflags(write=False)
    return copied


def frozen_rows(rows: IntArray) -> IntArray:
    """Return a read-only copy of row numbers."""
    copied = np.array(rows, dtype=np.int64, copy=True)
    copied.setflags(write=False)
    return copied
