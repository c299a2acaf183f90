"""Perturbers that their owner can undo."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from sfumato._arrays import Floats
from sfumato.perturb.mechanism.base import Perturber


class Invertible(Perturber):
    """A perturber that its owner can undo."""

    @abstractmethod
    def _inverse(self, fitted: Any, tile: Floats) -> Floats:
        """Return the original tile; may overwrite the one it is given."""

    def inverse_transform(self, X: Any) -> Any:
        """Return the originals of a released table (floats to rounding error; integers rounded).

        Parameters
        ----------
        X : dataframe or array of shape (n, d)
            The released table, or rows of it.
        """
        state = self._fitted_state()
        frame = self._read_like_fit(X, state, 0)
        return self._map(frame, state, lambda tile, _rows: self._inverse(state.fitted, tile), 1)
