"""The libraries of previews, loaded once, in the background, and without what the studio never needs."""

from __future__ import annotations

import os
import sys
import threading
from importlib import import_module

from threadpoolctl import threadpool_limits

_loading = threading.Lock()


def prepare_thread() -> None:
    """Load what previews need, and give each piece of work one core: threads inside threads wait for one another.

    Scikit-learn loads pandas when it finds it, and large releases compile their kernels: together 200 MB. The studio
    reads files by itself, and kernels that are not compiled give the same bits.
    """
    os.environ.setdefault("SFUMATO_NO_NUMBA", "1")
    with _loading:
        hidden = "pandas" not in sys.modules
        if hidden:
            sys.modules["pandas"] = None  # type: ignore[assignment]  # what cannot be imported is passed over
        try:
            import_module("sfumato.studio.comparing")
        finally:
            if hidden:
                del sys.modules["pandas"]
    threadpool_limits(1)
