"""One byte string for each value: what goes into a keyed hash must not depend on spelling.

`{"a": 1, "b": 2.0}` and `{"b": 2, "a": 1.0}` mean the same and encode the same; two different values
never share an encoding, because every part carries its type and its length.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any

from sfumato.core.secret import Secret


def canonical_bytes(value: Any) -> bytes:
    """Encode a plain value so that equal meanings give equal bytes and different ones never do.

    Examples
    --------
    >>> canonical_bytes([1, "a"]) == canonical_bytes((1.0, "a"))
    True
    >>> canonical_bytes(["ab", "c"]) == canonical_bytes(["a", "bc"])
    False
    """
    if isinstance(value, Secret):
        value = value.reveal()
    if hasattr(value, "tolist"):  # numpy scalars and arrays
        value = value.tolist()
    if value is None:
        return _tagged(b"n", b"")
    if isinstance(value, bool):
        return _tagged(b"b", b"1" if value else b"0")
    if isinstance(value, Integral):
        return _tagged(b"i", str(int(value)).encode())
    if isinstance(value, Real):
        number = float(value)
        return _tagged(b"i", str(int(number)).encode()) if number.is_integer() else _tagged(b"f", number.hex().encode())
    if isinstance(value, str):
        return _tagged(b"s", value.encode())
    if isinstance(value, bytes):
        return _tagged(b"y", value)
    if isinstance(value, Mapping):
        pairs = sorted((canonical_bytes(key), canonical_bytes(item)) for key, item in value.items())
        return _tagged(b"d", b"".join(part for pair in pairs for part in pair))
    if isinstance(value, Sequence):
        return _tagged(b"l", b"".join(canonical_bytes(item) for item in value))
    raise TypeError(f"cannot encode a {type(value).__name__}")


def _tagged(tag: bytes, body: bytes) -> bytes:
    return tag + len(body).to_bytes(8, "little") + body
