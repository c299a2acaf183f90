"""Errors and warnings that a user meets; each says what to type next.

Every error is a `SfumatoError`, and also the built-in error that scikit-learn users expect
(`ValueError`, `TypeError`), so that `except ValueError` keeps working.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = [
    "CellTypeError",
    "ConstantColumnWarning",
    "DataError",
    "DuplicateRowsError",
    "KeyFileError",
    "MissingComponentError",
    "NoiseReuseWarning",
    "ParameterError",
    "PolicyError",
    "PolicyLimitError",
    "ReceiptError",
    "ReleaseCancelledError",
    "RepeatedReleaseError",
    "RepeatedReleaseWarning",
    "SecretStateError",
    "SfumatoError",
    "SfumatoWarning",
    "SharedKeyWarning",
    "SingledOutWarning",
    "UnchangedCellsWarning",
]


class SfumatoError(Exception):
    """Base of all errors of this package: one message, and a hint that says what to do.

    Parameters
    ----------
    message : str
        What is wrong, where, and what is allowed.
    hint : str, optional
        What to type or change next.

    Examples
    --------
    >>> print(SfumatoError("no column 'custmer_id'", hint="did you mean 'customer_id'?"))
    no column 'custmer_id'
    hint: did you mean 'customer_id'?
    """

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\nhint: {self.hint}"


def nearest_name(word: str, names: Iterable[str]) -> str | None:
    """Return a hint with the nearest valid name; None if none is near.

    Examples
    --------
    >>> nearest_name("custmer_id", ["age", "customer_id"])
    "did you mean 'customer_id'?"
    """
    from difflib import get_close_matches  # needed after a mistake only

    near = get_close_matches(word, list(names), n=1)
    return f"did you mean {near[0]!r}?" if near else None


class DataError(SfumatoError, ValueError):
    """The table cannot be used as it is."""


class CellTypeError(DataError, TypeError):
    """A cell of a numeric column holds something that is not a number."""


class ParameterError(SfumatoError, ValueError):
    """A parameter is unknown, of the wrong type or out of its range."""


class PolicyError(ParameterError):
    """A policy holds something unknown, of the wrong type or impossible; the message names the line."""


class PolicyLimitError(SfumatoError):
    """The audit did not find what the policy demands, and nothing was released."""


class RepeatedReleaseError(SfumatoError):
    """People of the table were released before with other noise, the policy forbids it, and nothing was released."""


class ReceiptError(SfumatoError, OSError):
    """A receipt cannot be found, opened with this key, or does not belong to the file."""


class ReleaseCancelledError(SfumatoError):
    """The release was cancelled; nothing was written."""


class DuplicateRowsError(SfumatoError, ValueError):
    """A block of rows reached a summary twice; counting it twice would change the release."""


class KeyFileError(SfumatoError, OSError):
    """A key file cannot be written or must not be trusted."""


class SecretStateError(SfumatoError, TypeError):
    """Something secret was about to leave the process (pickling a key or a fitted perturber)."""


class MissingComponentError(SfumatoError, ImportError):
    """An optional library is not installed; the hint names the extra that brings it."""


class SfumatoWarning(UserWarning):
    """Base of all warnings of this package."""


class NoiseReuseWarning(SfumatoWarning):
    """The same noise is being used for other values: the difference of the two releases has no noise."""


class RepeatedReleaseWarning(SfumatoWarning):
    """People of the table were released before with other noise: the releases can be averaged, or subtracted."""


class SharedKeyWarning(SfumatoWarning):
    """Owners who share a key can take the noise of this method off one another's rows."""


class ConstantColumnWarning(SfumatoWarning):
    """A column holds one value only; there is nothing in it to hide behind."""


class SingledOutWarning(SfumatoWarning):
    """Columns that are released unchanged give people away who have few or no others like them there."""


class HeldBackWarning(SfumatoWarning):
    """People who would be a cluster of their own are not released."""


class UnchangedCellsWarning(SfumatoWarning):
    """Cells that the method will publish as they are."""
