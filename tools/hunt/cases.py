"""One case: a table is released and looked at, or a damaged file is read; in the process that calls it."""

from __future__ import annotations

import contextlib
import io
import random
import tempfile
import warnings
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.database import DirectoryBasedExampleDatabase

import sfumato as sf
from tools.hunt.oracle import read_cells, wrong_with
from tools.hunt.tables import PLAIN_NAME, Table, tables

CORPUS = Path(__file__).parent / "corpus"
_METHODS = ("adp", "mdp", "tdp", "rdp")


class WrongError(AssertionError):
    """A release is not what it must be."""


def hunt_tables(number: int, examples: int) -> Counter[str]:
    """Release odd tables and ask the oracle; what fails is kept in the corpus."""
    return _hunt(number, examples, _released)


def hunt_damage(number: int, examples: int) -> Counter[str]:
    """Damage the files of odd tables: they are refused, or released as they now read, and nothing else happens."""
    return _hunt(number, examples, lambda table: _damaged(table, number))


def _hunt(number: int, examples: int, case: Any) -> Counter[str]:
    seen: Counter[str] = Counter()

    @seed(number)
    @settings(
        max_examples=examples,
        deadline=None,
        database=DirectoryBasedExampleDatabase(CORPUS / case.__name__.strip("_<>")),
        suppress_health_check=list(HealthCheck),
        phases=(Phase.reuse, Phase.generate),
    )
    @given(tables())
    def one(table: Table) -> None:
        seen[case(table)] += 1

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one()
    return seen


def _released(table: Table) -> str:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source, target = folder / f"{table.name}{table.ending}", folder / f"{table.name} out{table.target}"
        source.write_bytes(table.raw)
        said = io.StringIO()
        try:
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                _release(table, source, target, folder / "my.key")
        except sf.SfumatoError as error:
            if "secret-" in str(error):
                raise WrongError("an error quotes a cell") from None
            if sorted(path.name for path in folder.iterdir()) != [source.name]:
                raise WrongError("a refused release has left something") from None
            if table.name != PLAIN_NAME and _released(replace(table, name=PLAIN_NAME)) == "released":
                raise WrongError("a table is refused for the name of its file") from None
            return "refused"
        around = [path for path in folder.iterdir() if path not in (source, target)]
        faults = wrong_with(table, target, around, said.getvalue())
        faults += _way_back(table, source, target, folder)
        if faults:
            raise WrongError("; ".join(faults))
        return "released"


def _release(table: Table, source: Path, target: Path, key: Path) -> None:
    by_role = {role: [c.name for c in table.columns if c.role == role] for role in ("keep", "drop")}
    sf.release(
        sf.CsvFile(source, separator=table.separator) if "csv" in table.ending or "tsv" in table.ending else source,
        target,
        method=_METHODS[len(table.raw) % len(_METHODS)],
        identifier=by_role["drop"],
        keep=by_role["keep"],
        shuffle=table.shuffle,
        key=key,
        threads=1,
        batch_rows=1 + len(table.raw) % 7,
    )


def _way_back(table: Table, source: Path, target: Path, folder: Path) -> list[str]:
    """Give every released row its number as a label, and bring the labels back to the original."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    labels = folder / "labels.parquet"
    pq.write_table(pa.table({"the label": list(range(table.rows))}), labels)
    separator = table.separator if "csv" in table.ending or "tsv" in table.ending else ","
    original: Any = sf.CsvFile(source, separator=separator) if source.suffix not in (".parquet", ".arrow") else source
    joined = folder / "joined.parquet"
    sf.join(labels, original, joined, folder / "my.key", released=target)
    header, columns = read_cells(joined, separator)
    if header[:-1] != [column.name for column in table.columns]:
        return ["join has other columns"]
    if sorted(columns[-1]) != list(range(table.rows)) or (not table.shuffle and columns[-1] != sorted(columns[-1])):
        return ["join has other labels"]
    typed = source.suffix in (".parquet", ".arrow")
    for column, cells in zip(table.columns, columns, strict=False):
        if not typed and ["" if cell is None else cell for cell in cells] != column.cells:
            return [f"join has changed a {column.kind} column"]
    return []


def _damaged(table: Table, number: int) -> str:
    draw = random.Random(number * 1000 + len(table.raw))
    raw = bytearray(table.raw)
    for _ in range(draw.choice([1, 1, 2, 8])):
        raw[draw.randrange(len(raw))] = draw.randrange(256)
    if draw.random() < 0.2:
        raw = raw[: draw.randrange(1, len(raw) + 1)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source, target = folder / f"in{table.ending}", folder / f"out{table.target}"
        source.write_bytes(raw)
        try:
            _release(table, source, target, folder / "my.key")
        except sf.SfumatoError as error:
            if "secret-" in str(error):
                raise WrongError("an error quotes a cell") from None
            if sorted(path.name for path in folder.iterdir()) != [source.name]:
                raise WrongError("a refused release has left something") from None
            return "refused"
        return "released"
