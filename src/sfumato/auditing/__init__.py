"""The audit: attack a release the way an adversary would, before anyone else does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato._lazy import lazy_names

if TYPE_CHECKING:
    from sfumato.auditing.model import Audit as Audit
    from sfumato.auditing.run import audit as audit

__all__ = ["Audit", "audit"]

_HOMES = {"Audit": "model", "audit": "run"}


__getattr__, __dir__ = lazy_names(__name__, _HOMES)
