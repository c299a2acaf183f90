"""One row of the catalogue of metrics, and how it finds its function."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

Need = Literal["table", "labels", "centres", "column"]
Direction = Literal[
    "higher is more private",
    "lower is more private",
    "higher is more useful",
    "lower is more useful",
    "higher is better",
]
Shape = Literal["number", "one for each column", "one for each row", "record"]


@dataclass(frozen=True, slots=True)
class Metric:
    """One row of the catalogue.

    Parameters
    ----------
    name : str
        What the papers and reports call it.
    function : str
        Name of the function in `sfumato.metrics`.
    needs : tuple of {"table", "labels", "centres", "column"}
        Its positional arguments, original (before) first.
    gives : {"number", "one for each column", "one for each row", "record"}
        What it returns.
    direction : str
        Which way is more private or more useful.
    bounds : tuple of float
        Smallest and largest possible value (inclusive).
    unit : str
        Unit of the values.
    paper : str
        Where it comes from.
    summary : str
        What it measures, in one line.

    Examples
    --------
    >>> from sfumato.metrics import catalogue
    >>> row = next(row for row in catalogue() if row.name == "Mc")
    >>> row.needs, row.direction
    (('labels', 'labels'), 'lower is more useful')
    >>> row.load()([0, 1], [1, 0])
    0.0
    """

    name: str
    function: str
    needs: tuple[Need, ...]
    gives: Shape
    direction: Direction
    bounds: tuple[float, float]
    unit: str
    paper: str
    summary: str

    def load(self) -> Callable[..., Any]:
        """Return the function; only now its libraries are imported.

        Returns
        -------
        callable
            Takes the arguments that `needs` lists.

        Examples
        --------
        >>> from sfumato.metrics import catalogue
        >>> catalogue()[0].load().__name__
        'misclassification_rate'
        """
        function: Callable[..., Any] = getattr(importlib.import_module("sfumato.metrics"), self.function)
        return function
