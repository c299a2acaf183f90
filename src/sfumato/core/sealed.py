"""Bytes that only the holder of a subkey can read or change unnoticed (AES-256-GCM)."""

from __future__ import annotations

import secrets

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_NONCE = 12


def seal(subkey: bytes, data: bytes, purpose: bytes) -> bytes:
    """Return data encrypted and authenticated, together with what it is for.

    Parameters
    ----------
    subkey : bytes
        32 bytes.
    purpose : bytes
        Public; opening it for another purpose fails.

    Examples
    --------
    >>> unseal(bytes(32), seal(bytes(32), b"sums", b"round 1"), b"round 1")
    b'sums'
    """
    nonce = secrets.token_bytes(_NONCE)
    return nonce + AESGCM(subkey).encrypt(nonce, data, purpose)


def unseal(subkey: bytes, sealed: bytes, purpose: bytes) -> bytes | None:
    """Return what was sealed, or None if it was sealed otherwise or changed."""
    try:
        return AESGCM(subkey).decrypt(sealed[:_NONCE], sealed[_NONCE:], purpose)
    except (InvalidTag, ValueError):
        return None
