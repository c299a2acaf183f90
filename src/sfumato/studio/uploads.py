"""A file on its way from the browser to the studio's folder: streamed, counted, unpacked and limited.

Nothing that the browser says is ever used as a path. The name it gives is a label, and its ending one of a few.
"""

from __future__ import annotations

import asyncio
import os
import re
import zlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from sfumato.core.system import CREATE
from sfumato.exceptions import DataError
from sfumato.studio.folder import Folder

# ending of the file's name -> ending of the file that is read
ENDINGS = {
    ".csv": ".csv",
    ".csv.gz": ".csv",
    ".tsv": ".tsv",
    ".parquet": ".parquet",
    ".feather": ".feather",
    ".arrow": ".arrow",
}
_GB = 10**9


class RefusedUploadError(DataError):
    """The file was not taken.

    Parameters
    ----------
    status : int
        Of the HTTP answer.
    """

    def __init__(self, message: str, *, hint: str, status: int) -> None:
        super().__init__(message, hint=hint)
        self.status = status


@dataclass(frozen=True)
class Limits:
    """What is too much.

    Attributes
    ----------
    file_bytes : int
        Of an uploaded file, and of what a packed one unpacks to.
    packed_ratio : int
        A packed file that unpacks to more than so many times its size is a bomb; tables come to 30 at most.
    idle_seconds : float
        Without a byte.
    """

    file_bytes: int = 2 * _GB
    packed_ratio: int = 200
    idle_seconds: float = 30.0


def label_of(name: str) -> tuple[str, str]:
    """Return a harmless label for a file name, and its ending.

    Parameters
    ----------
    name : str
        As the browser gives it.

    Examples
    --------
    >>> label_of("../../etc/customers.CSV.gz")
    ('customers.CSV.gz', '.csv.gz')
    """
    label = re.split(r"[/\\]", name)[-1]
    label = "".join(letter for letter in label if letter.isprintable()).strip()[-120:]
    ending = next((e for e in sorted(ENDINGS, key=len, reverse=True) if label.lower().endswith(e)), "")
    if not ending or label.lower() == ending:
        raise RefusedUploadError(
            "this kind of file is not read here",
            hint=f"choose a file that ends in {', '.join(ENDINGS)}; save spreadsheets as CSV, unpack archives first",
            status=415,
        )
    return label, ending


async def receive(
    body: AsyncIterator[bytes], announced: int | None, ending: str, folder: Folder, limits: Limits
) -> Path:
    """Write an upload to a new file in the folder, and return its path; nothing is left of a refused one.

    Parameters
    ----------
    announced : int or None
        Size that the browser announces.
    ending : str
        From `label_of`.
    """
    if announced is not None and announced > limits.file_bytes:
        raise _too_large(limits)
    if announced is not None and announced > folder.free_bytes():
        raise _disk_full()
    path = folder.new_file(ENDINGS[ending])
    unpacker = _Unpacker(limits) if ending.endswith(".gz") else None
    try:
        received = await _store(body, path, unpacker, limits)
        _check_whole(received, announced, unpacker)
    except OSError:
        path.unlink(missing_ok=True)
        raise _disk_full() from None
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return path


async def _store(body: AsyncIterator[bytes], path: Path, unpacker: _Unpacker | None, limits: Limits) -> int:
    descriptor = os.open(path, CREATE, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        return await _copy(body, file, unpacker, limits)


def _check_whole(received: int, announced: int | None, unpacker: _Unpacker | None) -> None:
    if received == 0:
        raise RefusedUploadError("the file is empty", hint="choose a file with a header and rows", status=422)
    if announced is not None and received != announced:
        raise RefusedUploadError("the upload stopped halfway", hint="choose the file again", status=400)
    if unpacker is not None:
        unpacker.finish()


async def _copy(body: AsyncIterator[bytes], file: BinaryIO, unpacker: _Unpacker | None, limits: Limits) -> int:
    received = 0
    chunks = aiter(body)
    while True:
        try:
            chunk = await asyncio.wait_for(anext(chunks), limits.idle_seconds)
        except StopAsyncIteration:
            return received
        except TimeoutError:
            raise RefusedUploadError(
                f"the upload was silent for {limits.idle_seconds:g} seconds and was given up",
                hint="choose the file again",
                status=408,
            ) from None
        received += len(chunk)
        if received > limits.file_bytes:
            raise _too_large(limits)
        if unpacker is None:
            await asyncio.to_thread(file.write, chunk)
        else:
            await asyncio.to_thread(unpacker.write, chunk, file)


class _Unpacker:
    """Unpacks gzip piece by piece, and stops before a small file fills the disk."""

    _PIECE = 1 << 20

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._packed = self._unpacked = 0
        self._inflate = zlib.decompressobj(wbits=31)

    def write(self, chunk: bytes, file: BinaryIO) -> None:
        self._packed += len(chunk)
        left = chunk
        while left:
            if self._inflate.eof:  # gzip files may be several in a row
                self._inflate = zlib.decompressobj(wbits=31)
            try:
                piece = self._inflate.decompress(left, self._PIECE)
            except zlib.error:
                raise RefusedUploadError(
                    "the file is not what its name says: not gzip", hint="check the file", status=422
                ) from None
            self._unpacked += len(piece)
            if self._unpacked > max(self._packed * self._limits.packed_ratio, 64 * self._PIECE):
                raise RefusedUploadError(
                    f"the file unpacks to more than {self._limits.packed_ratio} times its size, which no table does",
                    hint="unpack it yourself if you trust it, and choose the unpacked file",
                    status=413,
                )
            if self._unpacked > self._limits.file_bytes:
                raise _too_large(self._limits)
            file.write(piece)
            left = self._inflate.unused_data if self._inflate.eof else self._inflate.unconsumed_tail

    def finish(self) -> None:
        if not self._inflate.eof:
            raise RefusedUploadError("the packed file is cut off", hint="copy it again, whole", status=422)


def _too_large(limits: Limits) -> RefusedUploadError:
    size = limits.file_bytes
    text = f"{size / _GB:g} GB" if size >= _GB else f"{size / 10**6:g} MB"
    return RefusedUploadError(
        f"the file is larger than {text}, the most that can be uploaded",
        hint="start the studio with the file's name instead: sfumato studio FILE",
        status=413,
    )


def _disk_full() -> RefusedUploadError:
    return RefusedUploadError(
        "the disk has no room for this file",
        hint="free some space, or start the studio with the file's name: sfumato studio FILE",
        status=507,
    )
