"""A value that does not show itself: in a repr, a notebook, a log or an error it reads `<hidden>`.

scikit-learn prints every parameter of an estimator, in the console and as HTML. Offsets, factors and
angles are parameters, and whoever reads them undoes the release: perturbers hold them wrapped.
"""

from __future__ import annotations

from typing import Any, NoReturn

from sfumato.exceptions import SecretStateError


class Hidden:
    """Base of objects that hold secrets or originals: they show `<hidden>` and refuse to be pickled.

    A dataclass that inherits it must be declared with `repr=False`.

    Examples
    --------
    >>> Hidden()
    <hidden>
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "<hidden>"

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise SecretStateError("fitted state cannot be pickled: it holds secrets or statistics of the originals")


class Secret:
    """Hold a value that must not be printed or pickled.

    Parameters
    ----------
    value : object
        The value; `reveal` gives it back.

    Examples
    --------
    >>> offsets = Secret([-3.0, 5000.0])
    >>> offsets
    <hidden>
    >>> offsets.reveal()
    [-3.0, 5000.0]
    """

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        self._value = value

    def reveal(self) -> Any:
        """Return the value."""
        return self._value

    def __repr__(self) -> str:
        return "<hidden>"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return "<hidden>"

    def __eq__(self, other: object) -> bool:
        mine, theirs = self._value, other.reveal() if isinstance(other, Secret) else other
        if hasattr(mine, "tolist"):
            mine = mine.tolist()
        if hasattr(theirs, "tolist"):
            theirs = theirs.tolist()
        return bool(mine == theirs)

    __hash__ = None  # type: ignore[assignment]

    def __copy__(self) -> Secret:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Secret:
        return self

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise SecretStateError(
            "a hidden parameter cannot be pickled: a pickle would carry the secret that undoes the release",
            hint="construct the perturber where it is used, with the key loaded by sfumato.Key.load(path)",
        )
