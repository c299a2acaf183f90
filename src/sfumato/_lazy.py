"""Names of a package that are loaded when they are first used, so that importing it stays light."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the `__getattr__` and the `__dir__` of a package.

    Parameters
    ----------
    package : str
        Its `__name__`.
    homes : mapping from names to modules
        Where each name is defined, relative to the package; "" for a subpackage of that name.

    Examples
    --------
    >>> find, _ = lazy_names("sfumato", {"Key": "core.keys"})
    >>> find("Key").__name__
    'Key'
    """

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name]
        return getattr(import_module(f"{package}.{home}"), name) if home else import_module(f"{package}.{name}")

    return find, lambda: sorted(sys.modules[package].__all__)
