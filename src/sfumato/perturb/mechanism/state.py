"""What a fitted perturber knows: one private object, because scikit-learn prints what ends in `_`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

from sfumato.core.fingerprint import RowHasher
from sfumato.core.keys import Key
from sfumato.core.ledger import Ledger
from sfumato.core.passes import Facts
from sfumato.core.secret import Hidden
from sfumato.core.stream import Streams
from sfumato.exceptions import SecretStateError


@dataclass(frozen=True, repr=False)
class FittedState(Hidden):
    """Key, facts, streams and fitted state of a method, and what its noise has been used for."""

    key: Key
    hasher: RowHasher
    facts: Facts
    settings: bytes
    streams: Streams
    fitted: Any
    ledger: Ledger


def refuse_pickle(name: str) -> NoReturn:
    """Raise instead of pickling a fitted perturber."""
    raise SecretStateError(
        f"a fitted {name} cannot be pickled: the pickle would hold the key and statistics of the originals",
        hint="pickle it unfitted, or keep the key with key.save(path): the same key gives the same release again",
    )
