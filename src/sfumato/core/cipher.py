"""The words of one subkey: AES-256, as a counter mode for row numbers or as a function of digests."""

from __future__ import annotations

import threading
from typing import Any, NoReturn

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from sfumato.exceptions import SecretStateError

_WORDS_PER_BLOCK = 2  # one AES block is 16 bytes, two words
_ZEROS = memoryview(bytes(1 << 20))  # counter mode encrypts zeros: the key stream itself


class WordStream:
    """A seekable stream of uniform 64-bit words; shows and pickles nothing.

    Parameters
    ----------
    subkey : bytes
        32 bytes.

    Examples
    --------
    >>> stream = WordStream(bytes(32))
    >>> bool((stream.read(3, 7) == stream.read(0, 10)[3:]).all())
    True
    """

    __slots__ = ("_local", "_subkey")

    def __init__(self, subkey: bytes) -> None:
        self._subkey = subkey
        self._local = threading.local()  # a cipher per thread: making one costs as much as a thousand words

    def read(self, start: int, count: int) -> NDArray[np.uint64]:
        """Return the words start..start+count-1, in an array of the caller's own."""
        # block b of the key stream holds words 2b and 2b+1, so any row is one seek away
        skip = start % _WORDS_PER_BLOCK
        size = 16 * -(-(count + skip) // _WORDS_PER_BLOCK)
        cipher = self._cipher_at(start // _WORDS_PER_BLOCK)
        raw = np.empty(size + 15, dtype=np.uint8)  # older releases of cryptography want room for one block more
        target = raw.data
        for done in range(0, size, len(_ZEROS)):
            cipher.update_into(_ZEROS[: size - done], target[done:])
        words: NDArray[np.uint64] = raw[:size].view("<u8")[skip : skip + count]
        return words

    def at(self, numbers: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Return the words of any numbers: those that `read` gives for them.

        Examples
        --------
        >>> stream = WordStream(bytes(32))
        >>> bool((stream.at(np.array([9, 0, 4])) == stream.read(0, 10)[[9, 0, 4]]).all())
        True
        """
        blocks = np.zeros((len(numbers), 2), dtype=">u8")
        blocks[:, 1] = numbers // _WORDS_PER_BLOCK
        # a block of counter mode is the cipher of its number
        cipher = Cipher(algorithms.AES(self._subkey), modes.ECB()).encryptor()  # noqa: S305
        out = np.frombuffer(cipher.update(blocks.tobytes()), dtype="<u8").reshape(-1, 2)
        words: NDArray[np.uint64] = out[np.arange(len(numbers)), numbers % _WORDS_PER_BLOCK]
        return words

    def of_digests(self, digests: NDArray[np.uint8]) -> NDArray[np.uint64]:
        """Return one word for each digest of 16 bytes; equal digests have equal words."""
        # the cipher as a pseudo-random function; ECB is right here because each input is a digest
        cipher = Cipher(algorithms.AES(self._subkey), modes.ECB()).encryptor()  # noqa: S305
        out = np.frombuffer(cipher.update(digests.tobytes()), dtype="<u8")
        return out.reshape(-1, 2)[:, 0].copy()

    def _cipher_at(self, block: int) -> Any:
        nonce = block.to_bytes(16, "big")
        cipher = getattr(self._local, "cipher", None)
        if cipher is None:
            cipher = Cipher(algorithms.AES(self._subkey), modes.CTR(nonce)).encryptor()
            if hasattr(cipher, "reset_nonce"):  # cryptography 43 and newer
                self._local.cipher = cipher
        else:
            cipher.reset_nonce(nonce)
        return cipher

    def __repr__(self) -> str:
        return "WordStream(<hidden>)"

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise SecretStateError("random streams cannot be pickled: they hold a secret subkey")
