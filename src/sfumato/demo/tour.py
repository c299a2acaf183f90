"""The old place of the demo table: `sfumato.datasets` has it now."""

from __future__ import annotations

import warnings

from sfumato.datasets import CONFIDENTIAL, demo_table, write_demo

__all__ = ["CONFIDENTIAL", "demo_table", "write_demo"]

warnings.warn("sfumato.demo.tour has moved to sfumato.datasets", DeprecationWarning, stacklevel=2)
