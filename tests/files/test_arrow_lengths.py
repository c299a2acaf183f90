"""Damaged Arrow files are refused before the reader sets aside memory for what they say."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import polars as pl
import pytest
from pyarrow import feather

import sfumato as sf
from sfumato.exceptions import DataError
from sfumato.files.formats.arrow_lengths import longest_buffer

TABLE = pl.DataFrame({"a": [0.5 * (i % 7) for i in range(3000)], "b": ["x", "y", None] * 1000})


@pytest.mark.parametrize("compression", ["lz4", "zstd"])
def test_the_longest_buffer_is_that_of_the_longest_column(tmp_path: Path, compression: str) -> None:
    path = tmp_path / "table.arrow"
    feather.write_feather(TABLE.to_arrow(), path, compression=compression, chunksize=1000)
    assert longest_buffer(path) == 8 * 1001  # where the texts of one batch begin and end
    TABLE.write_ipc(path, compression=compression)
    assert longest_buffer(path) >= 8 * 3000
    TABLE.write_ipc(path, compression="uncompressed")
    assert longest_buffer(path) == 0


def test_a_length_that_no_memory_can_hold_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "table.arrow"
    TABLE.write_ipc(path, compression="lz4")
    said = struct.pack("<q", longest_buffer(path))
    path.write_bytes(path.read_bytes().replace(said, struct.pack("<q", 43_628_621_390_151_682)))
    assert longest_buffer(path) == 43_628_621_390_151_682
    with pytest.raises(DataError, match="not an Arrow file that can be read"):
        sf.release(path, tmp_path / "out.csv", method="adp", keep=["b"], key=tmp_path / "my.key")
    assert [one.name for one in tmp_path.iterdir()] == ["table.arrow"]


def test_whatever_is_damaged_ends_in_a_number_or_a_value_error(tmp_path: Path) -> None:
    path = tmp_path / "table.arrow"
    TABLE[:50].write_ipc(path, compression="lz4")
    whole, draw = path.read_bytes(), random.Random(0)
    seen = set()
    for _ in range(400):
        raw = bytearray(whole)
        for _ in range(draw.choice([1, 2, 8])):
            raw[draw.randrange(len(raw))] = draw.randrange(256)
        path.write_bytes(raw[: draw.choice([len(raw), draw.randrange(1, len(raw))])])
        try:
            seen.add(longest_buffer(path) >= 0)
        except ValueError:
            seen.add(False)
    assert seen == {True, False}
