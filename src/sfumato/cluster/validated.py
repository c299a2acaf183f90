"""scikit-learn's checks of an estimator's input, without its words about cells: they quote them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from sfumato.exceptions import CellTypeError, SfumatoError


def validated_rows(estimator: Any, X: Any, *, reset: bool = True) -> NDArray[np.float64]:
    """Return the rows of an estimator as finite doubles.

    Parameters
    ----------
    X : array-like or dataframe of shape (n, d)
    reset : bool
        Whether the number and the names of the columns are learnt, or compared. Default: True.
    """
    problem: Exception | None = None
    try:
        rows: NDArray[np.float64] = validate_data(estimator, X, dtype=np.float64, reset=reset)
    except SfumatoError:
        raise
    except (TypeError, ValueError) as error:
        problem = error
    else:
        return rows
    if _holds_text(X):  # scikit-learn's own words would quote a cell
        raise CellTypeError(
            "X holds cells that are not numbers (a cell's argument must be a string or a real number)",
            hint="select the numeric columns first",
        )
    raise problem


def _holds_text(X: Any) -> bool:
    try:
        array = np.asarray(X)
        if array.dtype.kind in "OUST" and array.ndim:  # a sparse matrix is an object without dimensions
            array.astype(np.float64)
    except (TypeError, ValueError):
        return True
    return False
