"""What sfumato warns of, thread by thread.

Python's own way to collect warnings belongs to the process: two previews at once would take one another's.
"""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections.abc import Iterator
from typing import Any

from sfumato.exceptions import SfumatoWarning

_here = threading.local()


def listen_to_warnings() -> None:
    """Keep every warning of sfumato for the thread that caused it, and show none in the terminal."""
    warnings.simplefilter("always", SfumatoWarning)
    show = warnings.showwarning

    def keep(message: Any, category: type[Warning], *place: Any, **more: Any) -> None:
        if not issubclass(category, SfumatoWarning):
            show(message, category, *place, **more)
            return
        collected: set[str] | None = getattr(_here, "collected", None)
        if collected is not None:
            collected.add(str(message))

    warnings.showwarning = keep


@contextlib.contextmanager
def collect_warnings() -> Iterator[set[str]]:
    """Yield a set that holds what sfumato warns of in this thread until the end of the block."""
    _here.collected = collected = set[str]()
    try:
        yield collected
    finally:
        _here.collected = None
