"""Large arrays that several processes look at: once in memory that has no name, and not a copy for each of them.

The memory is an anonymous file of the kernel, which no path leads to. It goes with the last process that holds it.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

_LARGE = 1 << 20  # bytes from which on an array is shared
_LINE = 64  # arrays begin at multiples of so many bytes
_PLACE = "//"  # name of the entry that says where an array lies: no field has it


class SharedArrays:
    """Memory for large arrays, where the system has such memory; elsewhere arrays stay as they are.

    Examples
    --------
    >>> held = SharedArrays()
    >>> told = held.without({"table": np.arange(200_000.0), "seed": 3})
    >>> held.descriptor is None or sorted(told["table"])
    ['//', 'kind', 'shape']
    >>> float(with_arrays(told, held.descriptor)["table"].sum())
    19999900000.0
    >>> held.close()
    """

    def __init__(self) -> None:
        self.descriptor: int | None = None
        self.size = 0
        if hasattr(os, "memfd_create"):
            self.descriptor = os.memfd_create("", os.MFD_CLOEXEC)

    def without(self, value: Any) -> Any:
        """Return a value in which the places of large arrays stand for them, however deep."""
        if isinstance(value, Mapping):
            return {key: self.without(one) for key, one in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(self.without(one) for one in value)
        if self.descriptor is None or not isinstance(value, np.ndarray):
            return value
        if value.nbytes < _LARGE or value.dtype.kind not in "biuf":
            return value
        plain, place = np.ascontiguousarray(value), self.size
        view, written = plain.data.cast("B"), 0
        while written < len(view):
            written += os.pwrite(self.descriptor, view[written:], place + written)
        self.size = -(-(place + written) // _LINE) * _LINE
        os.ftruncate(self.descriptor, self.size)
        return {_PLACE: place, "kind": plain.dtype.str, "shape": list(plain.shape)}

    def close(self) -> None:
        """Give it back; whoever looks at it still has it."""
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None


def with_arrays(value: Any, descriptor: int | None) -> Any:
    """Return a value with the arrays in the place of their places; nobody can write to them.

    Parameters
    ----------
    value : plain values
        Of `SharedArrays.without`.
    descriptor : int, optional
        Of the memory, as this process has it.
    """
    seen: list[mmap.mmap] = []

    def back(one: Any) -> Any:
        if isinstance(one, dict) and _PLACE in one:
            if not seen:
                assert descriptor is not None
                seen.append(mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ))
            count = int(np.prod(one["shape"]))
            return np.frombuffer(seen[0], dtype=one["kind"], count=count, offset=one[_PLACE]).reshape(one["shape"])
        if isinstance(one, dict):
            return {key: back(inside) for key, inside in one.items()}
        if isinstance(one, list | tuple):
            return type(one)(back(inside) for inside in one)
        return one

    return back(value)
