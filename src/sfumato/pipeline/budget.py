"""The ledger of differential privacy: what the releases of one folder of keys have spent together.

It lies beside the keys. Who shares a folder of keys shares a budget: releases of it add up whatever their tables hold,
because nobody can say for sure that two tables have no person in common. A ledger that cannot be read stops the
release: it is never taken for an empty one.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

from sfumato.core.system import read_regular
from sfumato.exceptions import PolicyError, RepeatedReleaseError
from sfumato.perturb.private.counting import FAILURE
from sfumato.perturb.private.noise import epsilon_of, rho_of
from sfumato.pipeline.history import locked
from sfumato.receipts.body import write_private

LEDGER = "privacy.ledger"
_VERSION = "sfumato-privacy-1"
_REPLACED = 4.0  # who is replaced is left out and put in: twice the distance, and zCDP grows with its square


@dataclass(frozen=True)
class Claim:
    """What one release promises.

    Attributes
    ----------
    epsilon, delta : float
    replaced : bool
        Whether neighbours have a person replaced, because the number of rows is public; otherwise one is left out.
    person : bool
        Whether a record id says whose rows they are; otherwise the unit is a row.
    """

    epsilon: float
    delta: float
    replaced: bool = False
    person: bool = False

    def line(self) -> dict[str, Any]:
        """Return it as a line of the ledger."""
        rho = rho_of(self.epsilon, self.delta * (1.0 - FAILURE))
        about = {"replaced": self.replaced, "person": self.person}
        return {"epsilon": self.epsilon, "delta": self.delta, "rho": rho, **about}


@dataclass(frozen=True)
class Spent:
    """What releases come to together.

    Attributes
    ----------
    epsilon, delta : float
    words : str
        The same as a sentence.
    """

    epsilon: float
    delta: float
    words: str


def spent_by(lines: Sequence[dict[str, Any]]) -> Spent:
    """Return what releases come to together, at the largest of their deltas.

    Parameters
    ----------
    lines : sequence of dict
        See `Claim.line`.
    """
    if not lines:
        return Spent(0.0, 0.0, "nothing was released with a guarantee")
    replaced = any(one.get("replaced", False) for one in lines)
    # beside a release with a public number of rows only replacement is protected, which costs the others more
    rho = sum(float(one["rho"]) * (_REPLACED if replaced and not one.get("replaced", False) else 1.0) for one in lines)
    delta = max(float(one["delta"]) for one in lines)
    # a noisy number of rows may be beyond the true one: that chance adds up over releases
    left = delta - sum(FAILURE * float(one["delta"]) for one in lines if not one.get("replaced", False))
    epsilon = epsilon_of(rho, left) if left > 0 else inf
    words = f"all private releases of this folder of keys come to epsilon {epsilon:.3g} with this one, delta {delta:g}"
    if replaced:
        words += ", for people who are replaced (a number of rows was public)"
    if len({bool(one.get("person", False)) for one in lines}) > 1:
        words += "; some protect a row and others a person: the sum is for people who have one row"
    return Spent(epsilon, delta, words)


class PrivacyLedger:
    """The releases of a folder of keys that have a formal guarantee.

    Parameters
    ----------
    folder : Path
        The folder of the keys.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / LEDGER

    def require(self, claim: Claim, budget: float | None) -> Spent:
        """Return what will have been spent after one more release, or raise if that is more than the budget.

        Parameters
        ----------
        claim : Claim
            Of the next release.
        budget : float, optional
            In epsilon; None has no limit.
        """
        return _require([*self._lines(), claim.line()], budget)

    def note(self, receipt: str, claim: Claim, budget: float | None = None) -> str:
        """Write a release down, once more against its budget, and return the name of its line.

        Parameters
        ----------
        receipt : str
            Name of its receipt.
        budget : float, optional
            See `require`: of two releases at a time, the second finds the first.
        """
        mine = {"id": secrets.token_hex(8), "receipt": receipt, **claim.line()}
        with self._changing() as lines:
            lines.append(mine)
            _require(lines, budget)
        return str(mine["id"])

    def forget(self, line: str) -> None:
        """Take the line of a release back that came to nothing.

        Parameters
        ----------
        line : str
            See `note`.
        """
        with self._changing() as lines:
            lines[:] = [one for one in lines if one.get("id") != line]

    @contextmanager
    def _changing(self) -> Iterator[list[dict[str, Any]]]:
        with locked(self._path.parent):
            lines = self._lines()
            yield lines
            text = "\n".join([_VERSION, *(json.dumps(one) for one in lines)])
            write_private(self._path, f"{text}\n".encode())

    def _lines(self) -> list[dict[str, Any]]:
        try:
            first, *rest = read_regular(self._path).decode().splitlines()
            lines = [json.loads(line) for line in rest]
            good = all(float(one["rho"]) > 0 and float(one["delta"]) > 0 and "receipt" in one for one in lines)
            damaged = first != _VERSION or not good
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


def _require(lines: Sequence[dict[str, Any]], budget: float | None) -> Spent:
    after = spent_by(lines)
    if budget is not None and after.epsilon > budget:
        raise RepeatedReleaseError(
            f"nothing was released: the releases of this folder of keys would come to epsilon {after.epsilon:.3g}, and "
            f"the policy's budget is {budget:g}",
            hint="budgets are for good: hand out an earlier release again, or a smaller epsilon if some is left",
        )
    return after
