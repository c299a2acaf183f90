"""The old place of the demo table: `sfumato.datasets` has it now."""

from __future__ import annotations

import warnings
from typing import Any

from sfumato import datasets


def __getattr__(name: str) -> Any:
    if name not in datasets.__all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warnings.warn("sfumato.demo.tour has moved to sfumato.datasets", DeprecationWarning, stacklevel=2)
    return getattr(datasets, name)
