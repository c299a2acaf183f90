"""The ledger of differential privacy: what the releases of one folder of keys have spent together.

It lies beside the keys. Who shares a folder of keys shares a budget: releases of it add up whatever their tables hold,
because nobody can say for sure that two tables have no person in common. A ledger that cannot be read stops the
release: it is never taken for an empty one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sfumato.exceptions import PolicyError, RepeatedReleaseError
from sfumato.perturb.private.noise import epsilon_of, rho_of
from sfumato.pipeline.history import locked
from sfumato.receipts.body import write_private

LEDGER = "privacy.ledger"
_VERSION = "sfumato-privacy-1"


class PrivacyLedger:
    """The releases of a folder of keys that have a formal guarantee.

    Parameters
    ----------
    folder : Path
        The folder of the keys.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / LEDGER

    def spent(self, delta: float) -> float:
        """Return the epsilon of everything released so far, at a delta."""
        total = sum(float(one["rho"]) for one in self._lines())
        return epsilon_of(total, delta) if total else 0.0

    def require(self, epsilon: float, delta: float, budget: float | None) -> float:
        """Return what will have been spent after one more release, or raise if that is more than the budget.

        Parameters
        ----------
        epsilon, delta : float
            Of the next release.
        budget : float, optional
            In epsilon; None has no limit.
        """
        total = sum(float(one["rho"]) for one in self._lines()) + rho_of(epsilon, delta)
        after = epsilon_of(total, delta)
        if budget is not None and after > budget:
            raise RepeatedReleaseError(
                f"nothing was released: the releases of this folder of keys would come to epsilon {after:.3g}, and the "
                f"policy's budget is {budget:g}",
                hint="budgets are for good: hand out an earlier release again, or a smaller epsilon if some is left",
            )
        return after

    def note(self, receipt: str, epsilon: float, delta: float) -> None:
        """Write a release down.

        Parameters
        ----------
        receipt : str
            Name of its receipt.
        epsilon, delta : float
        """
        mine = {"receipt": receipt, "epsilon": epsilon, "delta": delta, "rho": rho_of(epsilon, delta)}
        with self._changing() as lines:
            lines.append(mine)

    def forget(self, receipt: str) -> None:
        """Take the last line of a release back that came to nothing."""
        with self._changing() as lines:
            place = max((i for i, one in enumerate(lines) if one["receipt"] == receipt), default=None)
            if place is not None:
                del lines[place]

    @contextmanager
    def _changing(self) -> Iterator[list[dict[str, Any]]]:
        with locked(self._path.parent):
            lines = self._lines()
            yield lines
            text = "\n".join([_VERSION, *(json.dumps(one) for one in lines)])
            write_private(self._path, f"{text}\n".encode())

    def _lines(self) -> list[dict[str, Any]]:
        try:
            first, *rest = self._path.read_text(encoding="utf-8").splitlines()
            lines = [json.loads(line) for line in rest]
            damaged = first != _VERSION or any(not float(one["rho"]) > 0 or "receipt" not in one for one in lines)
        except FileNotFoundError:
            return []
        except (OSError, ValueError, KeyError, TypeError):
            damaged, lines = True, []
        if damaged:
            raise PolicyError(
                f"{self._path}: the ledger of differential privacy cannot be read, so nobody knows what is spent",
                hint="bring it back from a copy; without it choose another folder of keys for other people",
            )
        return lines
