"""Keys of tests: as good as fresh ones, and the same ones in every run.

Tests on small tables assert what holds for nearly every key, not for every one. With keys from the operating system
such a test fails once in a hundred runs, for a change that has nothing to do with it. So keys made inside this process
follow from the name of the test, or of the fixture that is shared by several. `SFUMATO_TEST_KEYS=fresh` takes them
from the operating system again, to hunt for keys that break something.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager

from sfumato.core import keys

_FRESH = os.environ.get("SFUMATO_TEST_KEYS") == "fresh"


@contextmanager
def keys_of(name: str) -> Iterator[None]:
    """Let new keys follow from a name."""
    if _FRESH:
        yield
        return
    count = 0

    def generate(cls: type[keys.Key]) -> keys.Key:
        nonlocal count
        count += 1
        return cls(hashlib.blake2b(f"{name} {count}".encode(), digest_size=keys.KEY_BYTES).digest())

    original = keys.Key.__dict__["generate"]
    keys.Key.generate = classmethod(generate)  # type: ignore[assignment,method-assign]
    try:
        yield
    finally:
        keys.Key.generate = original  # type: ignore[method-assign]
