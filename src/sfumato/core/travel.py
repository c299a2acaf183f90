"""Plain values, arrays and filled summaries as bytes, and back: how they travel between processes and owners.

No pickle: what arrives can only be numbers, text, bytes, arrays of numbers and containers of these. Integers of any
size, all bits of a double and the type of an array come back as they were.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np

from sfumato.core.summaries import Summary
from sfumato.exceptions import DataError

S = TypeVar("S", bound=Summary)

_MAGIC = b"sfumato-values-1\n"
_KINDS = "biuf"  # booleans, whole numbers and floats; no objects


def pack(value: Any) -> bytes:
    """Return a plain value as bytes.

    Examples
    --------
    >>> unpack(pack({"sums": [2**70, None], "low": np.array([0.5, -np.inf])}))
    {'sums': [1180591620717411303424, None], 'low': array([ 0.5, -inf])}
    """
    blobs = bytearray()
    text = json.dumps(_encoded(value, blobs), separators=(",", ":"), allow_nan=False).encode()
    return b"".join([_MAGIC, len(text).to_bytes(8, "little"), text, blobs])


def unpack(data: bytes) -> Any:
    """Return the value of bytes that `pack` has made."""
    start = len(_MAGIC) + 8
    view = memoryview(data)
    value, failed = None, bytes(view[: len(_MAGIC)]) != _MAGIC
    try:
        if not failed:
            stop = start + int.from_bytes(view[len(_MAGIC) : start], "little")
            value = _decoded(json.loads(bytes(view[start:stop])), view[stop:])
    except (ValueError, TypeError, KeyError, IndexError, OverflowError, AttributeError):
        failed = True
    if failed:
        raise DataError("packed values cannot be read", hint="they were damaged, or made by another version of sfumato")
    return value


def learnt_of(summary: Summary) -> Any:
    """Return what a filled summary has learnt, as plain values without its parameters."""
    return [_learnt_value(getattr(summary, name)) for name in summary.learnt]


def filled_summary(template: S, learnt: Any) -> S:
    """Return a summary of the kind and parameters of a template that has learnt what another one had.

    Parameters
    ----------
    learnt : plain values
        See `learnt_of`.
    """
    made = template.fresh()
    for name, value in zip(made.learnt, learnt, strict=True):
        mine = getattr(made, name)
        if name == "parts":
            whole = [filled_summary(part, one) for part, one in zip(mine, value, strict=True)]
            value = type(mine)(whole)
        setattr(made, name, value)
    return made


def _learnt_value(value: Any) -> Any:
    if isinstance(value, Summary):
        return learnt_of(value)
    if isinstance(value, list | tuple):
        return type(value)(_learnt_value(one) for one in value)
    return value


def _encoded(value: Any, blobs: bytearray) -> Any:
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.ndarray):
        if value.dtype == object:  # integers of any size
            return {"o": [_encoded(one, blobs) for one in value.ravel().tolist()], "s": list(value.shape)}
        if value.dtype.kind not in _KINDS:
            raise TypeError(f"cannot pack an array of {value.dtype}")
        plain = np.ascontiguousarray(value)
        raw = plain.astype(plain.dtype.newbyteorder("<"), copy=False).tobytes()
        return {"a": plain.dtype.newbyteorder("<").str, "s": list(value.shape), "b": _blob(raw, blobs)}
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool | int):
        return value if isinstance(value, bool) or abs(value) < 2**53 else {"i": hex(value)}
    if isinstance(value, float):
        return value if math.isfinite(value) else {"f": repr(value)}
    if isinstance(value, bytes):
        return {"x": _blob(value, blobs)}
    if isinstance(value, list):
        return [_encoded(one, blobs) for one in value]
    if isinstance(value, tuple):
        return {"t": [_encoded(one, blobs) for one in value]}
    if isinstance(value, Mapping):
        return {"m": [[_encoded(key, blobs), _encoded(one, blobs)] for key, one in value.items()]}
    raise TypeError(f"cannot pack a {type(value).__name__}")


def _blob(raw: bytes, blobs: bytearray) -> list[int]:
    blobs += raw
    return [len(blobs) - len(raw), len(raw)]


def _decoded(value: Any, blobs: memoryview) -> Any:
    if isinstance(value, list):
        return [_decoded(one, blobs) for one in value]
    if not isinstance(value, dict):
        return value
    if "a" in value:
        dtype = np.dtype(value["a"])
        if dtype.kind not in _KINDS:
            raise TypeError("not an array of numbers")
        place, size = value["b"]
        array = np.frombuffer(blobs[place : place + size], dtype=dtype).reshape(value["s"])
        return array.astype(dtype.newbyteorder("="))
    if "o" in value:
        flat = np.empty(len(value["o"]), dtype=object)
        flat[:] = [_decoded(one, blobs) for one in value["o"]]
        return flat.reshape(value["s"])
    if "i" in value:
        return int(value["i"], 16)
    if "f" in value:
        return float(value["f"])
    if "x" in value:
        place, size = value["x"]
        return bytes(blobs[place : place + size])
    if "t" in value:
        return tuple(_decoded(one, blobs) for one in value["t"])
    return {_decoded(key, blobs): _decoded(one, blobs) for key, one in value["m"]}
