"""The audit: attack a release the way an adversary would, before anyone else does."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.auditing.model import Audit as Audit
    from sfumato.auditing.run import audit as audit

__all__ = ["Audit", "audit"]

_HOMES = {"Audit": "model", "audit": "run"}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"sfumato.auditing.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
