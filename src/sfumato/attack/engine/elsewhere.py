"""Attacks that other processes run: a referee there, who is told the same, hands out and scores the same."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from typing import Any

from sfumato.attack.engine.referee import Referee
from sfumato.attack.engine.result import Result

ELSEWHERE = "sfumato.attack.engine.elsewhere:referees_elsewhere"


class Referees:
    """Runs attacks through one of several referees, each of whom is made when somebody asks for an attack.

    Parameters
    ----------
    told : mapping of str to mapping
        The parameters of each `Referee`.

    Examples
    --------
    >>> import numpy as np
    >>> table = np.random.default_rng(1).normal(size=(60, 2))
    >>> told = {"original": table, "released": table, "seed": 1}
    >>> Referees({"rows": told})(("rows", "as-released", ())).rate
    1.0
    """

    def __init__(self, told: Mapping[str, Mapping[str, Any]]) -> None:
        self.told, self._made, self._lock = told, dict[str, Referee](), Lock()

    def of(self, name: str) -> Referee:
        """Return a referee."""
        with self._lock:
            if name not in self._made:
                self._made[name] = Referee(**self.told[name])
            return self._made[name]

    def __call__(self, asked: tuple[str, str, tuple[Any, ...]]) -> Result:
        """Return the result of an attack: (name of the referee, id of the attack, known people if they are given)."""
        name, attack, known = asked
        return self.of(name).run(attack, *known)


def referees_elsewhere(told: dict[str, Any]) -> Referees:
    """Return the referees of another process.

    Parameters
    ----------
    told : dict
        See `Referees`.
    """
    return Referees(told)
