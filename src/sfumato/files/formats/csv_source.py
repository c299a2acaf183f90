"""CSV files as batches of text cells: any size, gzip too, every line checked."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import polars as pl

from sfumato.core.secret import Hidden
from sfumato.exceptions import DataError
from sfumato.files.formats.csv_dialect import CsvFile, Unescaped, doubt_about, separator_of
from sfumato.files.numbers import decimals_of_block
from sfumato.files.same_file import SameFile
from sfumato.files.source import CsvStyle, RawBatch, check_headers, with_first_name

CHUNK_BYTES = 2 << 20
_LONGEST_RECORD = 64 << 20
_BOM = b"\xef\xbb\xbf"


class CsvSource:
    """A CSV file with a header line.

    Cells stay text, so that 00123 keeps its zeros and NA stays NA; who needs numbers parses them. The separator
    (comma, semicolon, tab or bar) and the line ends are found in the header and used for the release too. Quotes are
    read as RFC 4180 has them; where a reader of another habit would see other records, the file is refused.

    Parameters
    ----------
    file : CsvFile or path
        The file, and what its owner says about quotes.
    chunk_bytes : int
        About how much is read at a time; no result depends on it.
    """

    def __init__(self, file: CsvFile | Path, *, chunk_bytes: int = CHUNK_BYTES) -> None:
        self.file = CsvFile.of(file)
        self.path = path = Path(file)
        self._chunk = chunk_bytes
        self._same = SameFile(path)
        self.types: dict[str, pl.DataType] = {}
        with self._open() as opened:
            header, _ = _first_record(self._read(opened, 1 << 20), str(path), self.file.mark)
        self._header = header
        line = header.rstrip(b"\r\n")
        if not line.strip():
            raise DataError(f"{path}: empty", hint="a CSV file begins with a line of column names")
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError:
            text = None
        if text is None:
            raise DataError(f"{path}: line 1 is not UTF-8 text", hint=_hint_for(header))
        if "\0" in text:
            raise DataError(f"{path}: not a text file", hint=_hint_for(header))
        separator = self.file.separator or separator_of(text, self.file.mark)
        if separator is None:
            raise DataError(
                f"{path}: the header could be cut at two different separators",
                hint="say which, with sfumato.CsvFile: separator=';'",
            )
        self.style = CsvStyle(separator, "\r\n" if header.endswith(b"\r\n") else "\n")
        try:
            self.names = with_first_name(next(self._records(text)))
        except csv.Error:  # its own words may quote the line
            self.names = ()
        if not self.names:
            raise DataError(
                f"{path}: the header cannot be cut into names", hint="check its quotes, and whether names are very long"
            )
        self._require_clear(header, 1)
        # whoever says how the cells are cut and quoted knows the file: so are releases of ours opened
        check_headers(self.names, str(path), sure=self.file.separator is not None and self.file.escape is not None)
        self._places = {name: place for place, name in enumerate(self.names)}

    def places(self, columns: Sequence[str]) -> list[int]:
        """Return the numbers of columns."""
        return [self._places[name] for name in columns]

    def batches(self, columns: Sequence[str] | None = None, numbers: Sequence[str] = ()) -> Iterator[RawBatch]:
        """Read the file once; see `Source`."""
        parsed, asked = set(numbers), set(self.names if columns is None else columns)
        types = {name: pl.Float64 if name in parsed else pl.String for name in self.names}
        wanted = [name for name in self.names if name in asked]
        all_text = dict.fromkeys(self.names, pl.String)
        self._same.require()
        size = max(self.path.stat().st_size, 1)
        row = 0
        line = 1
        with self._open() as file:
            self._read(file, len(self._header))
            line += self._header.count(b"\n")
            rest = b""
            while True:
                more = self._read(file, self._chunk)
                block, rest = (rest, b"") if not more else _whole_records(rest + more, str(self.path), self.file.mark)
                if len(self.names) > 1:
                    block, blank = _without_blank_lines(block)
                    rest = blank + rest if more else b""
                if block:
                    self._require_clear(block, line)
                    records, separators, lines = _count(block, self.style.separator.encode(), self.file.mark)
                    if separators != records * (len(self.names) - 1):
                        raise self._ragged(block, line)
                    parse = partial(self._parse, block, wanted, types, line, records)
                    text = _BlockText(self, block, partial(self._parse, block, wanted, all_text, line, records))
                    yield RawBatch(parse, row, min(1.0, _position(file) / size), records, text)
                    row += records
                    line += lines
                if not more:
                    self._same.require(_plain(file).fileno())
                    return

    def text(self) -> bytes:
        """Return the whole file, checked, with quotes doubled; for small tables."""
        for _ in self.batches(()):
            pass
        with self._open() as file:
            return b"".join(iter(lambda: self._read(file, self._chunk), b""))

    def _open(self) -> IO[bytes]:
        try:
            with self.path.open("rb") as start:
                packed = start.read(2) == b"\x1f\x8b"
            file: Any = gzip.GzipFile(self.path, "rb") if packed else self.path.open("rb")
        except OSError as error:
            raise DataError(f"{self.path}: cannot be read ({error.strerror})", hint="check the path") from None
        if self._read(file, 3) != _BOM:
            file.seek(0)
        if self.file.escape == "backslash":
            file = Unescaped(file, self.file.mark)
        return cast("IO[bytes]", file)

    def _records(self, text: str) -> Iterator[list[str]]:
        mark = self.file.mark.decode()
        return csv.reader(
            io.StringIO(text, newline=""),
            delimiter=self.style.separator,
            quotechar=mark or None,
            quoting=csv.QUOTE_MINIMAL if mark else csv.QUOTE_NONE,
            strict=True,
        )

    def _require_clear(self, block: bytes, line: int) -> None:
        """Raise if another reader would see other records in a block."""
        doubt = doubt_about(block, self.file, self.style.separator, len(self.names))
        if doubt is not None:
            place, problem, hint = doubt
            number = line + block.count(b"\n", 0, place)
            raise DataError(f"{self.path}: line {number} has {problem}", hint=hint)

    def _read(self, file: IO[bytes], size: int) -> bytes:
        try:
            return file.read(size)
        except (OSError, EOFError, zlib.error):
            pass
        raise DataError(f"{self.path}: cannot be read to its end", hint="is the gzip file complete?")

    def _parse(
        self, block: bytes, wanted: list[str], types: Mapping[str, Any], line: int, records: int
    ) -> pl.DataFrame:
        frame = self._read_block(block, wanted, types)
        if frame is None:  # a cell that is no plain number: whoever asked looks at the text
            frame = self._read_block(block, wanted, dict.fromkeys(self.names, pl.String))
        # outside the handler, and without the reader's own words: they quote cells of the file
        if frame is None or frame.height != records:
            raise self._ragged(block, line)
        return frame[wanted]

    def _read_block(self, block: bytes, wanted: list[str], types: Mapping[str, Any]) -> pl.DataFrame | None:
        try:
            return pl.read_csv(
                io.BytesIO(_BOM + block if block.startswith(_BOM) else block),  # the reader takes one away
                has_header=False,
                separator=self.style.separator,
                quote_char=self.file.mark.decode() or None,
                schema=dict(types),
                columns=[self._places[name] for name in wanted],
            )
        except (pl.exceptions.PolarsError, OSError):
            return None

    def _ragged(self, block: bytes, line: int) -> DataError:
        """Find what is wrong with a block, slowly, and say it without quoting a cell."""
        try:
            text = block.decode("utf-8")
        except UnicodeDecodeError as error:
            bad = line + block[: error.start].count(b"\n")
            return DataError(f"{self.path}: line {bad} is not UTF-8 text", hint=_ENCODING_HINT)
        reader: Any = self._records(text)
        width = len(self.names)
        before = 0
        try:
            for cells in reader:
                if len(cells) != width:
                    place = (
                        f"{self.path}: line {line + before} has {max(len(cells), 1)} cell(s), the header has {width}"
                    )
                    return DataError(place, hint="every row needs as many cells as the header; quote cells with commas")
                before = reader.line_num
        except csv.Error:
            pass
        return DataError(
            f"{self.path}: not a readable CSV file near line {line + before}", hint="check the quotes in that line"
        )


class _BlockText(Hidden):
    """How the cells of a block are written; see `CellText`."""

    def __init__(self, source: CsvSource, block: bytes, cells: Callable[[], pl.DataFrame]) -> None:
        self._source, self._block, self.cells = source, block, cells

    def decimals(self, columns: Sequence[str]) -> list[tuple[int, int]] | None:
        """Return the fewest and the most decimals of columns."""
        places = self._source.places(columns)
        width = len(self._source.names)
        return decimals_of_block(self._block, self._source.style.separator, width, places, self._source.file.mark)


_ENCODING_HINT = "save the file as UTF-8, for instance: iconv -f latin1 -t utf-8 FILE > NEW"


_MAGIC = (
    (b"PK\x03\x04", "it is a zip archive or a spreadsheet: unpack it, or save the sheet as CSV"),
    (b"\xff\xfe\x00\x00", "it is UTF-32: iconv -f utf-32 -t utf-8 FILE > NEW"),
    (b"\xff\xfe", "it is UTF-16: iconv -f utf-16 -t utf-8 FILE > NEW"),
    (b"\xfe\xff", "it is UTF-16: iconv -f utf-16 -t utf-8 FILE > NEW"),
    (b"BZh", "it is packed by bzip2: bunzip2 FILE"),
    (b"\xfd7zXZ\x00", "it is packed by xz: unxz FILE"),
    (b"\x28\xb5\x2f\xfd", "it is packed by zstd: unzstd FILE"),
    (b"7z\xbc\xaf", "it is a 7z archive: unpack it"),
    (b"PAR1", "it is a Parquet file: name it .parquet"),
    (b"ARROW1", "it is an Arrow file: name it .arrow"),
)


def _hint_for(start: bytes) -> str:
    """Return what to do with a file that is no UTF-8 text, by how it begins."""
    found = next((hint for magic, hint in _MAGIC if start.startswith(magic)), None)
    if found is None and b"\0" in start[:64]:
        return (
            "sfumato reads CSV, Parquet and Arrow files; UTF-16 is converted with: iconv -f utf-16 -t utf-8 FILE > NEW"
        )
    return found or _ENCODING_HINT


def _position(file: Any) -> int:
    return int(_plain(file).tell())


def _plain(file: Any) -> Any:
    """Return the file on the disk under all that unpacks it."""
    plain: Any = file.fileobj if isinstance(file, Unescaped) else file
    return plain.fileobj if isinstance(plain, gzip.GzipFile) else plain


def _first_record(block: bytes, what: str, mark: bytes) -> tuple[bytes, bytes]:
    place = -1
    while True:
        place = block.find(b"\n", place + 1)
        if place < 0:
            if len(block) > _LONGEST_RECORD // 64:
                raise DataError(f"{what}: the first line does not end", hint="is it a CSV file?")
            return block, b""
        if not mark or block.count(mark, 0, place) % 2 == 0:
            return block[: place + 1], block[place + 1 :]


def _whole_records(block: bytes, what: str, mark: bytes) -> tuple[bytes, bytes]:
    """Cut a block after its last line end that is not inside quotes."""
    place = block.rfind(b"\n")
    quotes = block.count(mark, 0, max(place, 0)) if mark and mark in block else 0
    while place >= 0:
        if quotes % 2 == 0:
            return block[: place + 1], block[place + 1 :]
        before = block.rfind(b"\n", 0, place)
        quotes -= block.count(mark, max(before, 0), place)
        place = before
    if len(block) > _LONGEST_RECORD:
        raise DataError(f"{what}: a line is longer than {_LONGEST_RECORD >> 20} MB", hint="a quote may not be closed")
    return b"", block


def _without_blank_lines(block: bytes) -> tuple[bytes, bytes]:
    """Return a block without the blank lines at its end, and these: at the end of a file they mean nothing."""
    rows = block.rstrip(b"\r\n")
    end = 2 if block[len(rows) : len(rows) + 2] == b"\r\n" else 1
    return (block[: len(rows) + end], block[len(rows) + end :]) if rows else (b"", block)


def _count(block: bytes, separator: bytes, mark: bytes) -> tuple[int, int, int]:
    """Return the numbers of records and of separators, both outside quotes, and that of all line ends."""
    letters = np.frombuffer(block, dtype=np.uint8)
    ends, parts = letters == ord("\n"), letters == separator[0]  # much faster than counting bytes one by one
    lines = inside = int(np.count_nonzero(ends))
    if mark and mark in block:
        outside = ~np.bitwise_xor.accumulate(letters == mark[0])
        ends &= outside
        parts &= outside
        inside = int(np.count_nonzero(ends))
    return inside + (0 if block.endswith(b"\n") else 1), int(np.count_nonzero(parts)), lines
