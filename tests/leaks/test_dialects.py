r"""A CSV file is read as it was meant, or refused: no reading of ours hides a record inside a cell."""

from __future__ import annotations

import csv
import io
import tempfile
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato import cli
from sfumato.exceptions import DataError, ParameterError
from sfumato.files.opening import open_source

KEY = sf.Key.from_insecure_seed(3)
pytestmark = pytest.mark.filterwarnings("ignore::sfumato.SfumatoWarning")


def backslashed(rows: list[list[str]]) -> bytes:
    r"""Return rows as MySQL, Spark and others write them: quotes inside cells as \"."""
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL, doublequote=False, escapechar="\\", lineterminator="\n").writerows(rows)
    return out.getvalue().encode()


def people(n: int = 40) -> list[list[str]]:
    """Return people whose remarks end and begin with quotes: half of them vanish into cells of an ordinary reader."""
    rows = [["id", "remark", "wage"]]
    for i in range(n):
        remark = f'says "yes {i}", "' if i % 2 == 0 else f'", and {i}'
        rows.append([f"SECRET-{i:03}", remark, f"{1000 + 7 * i}"])
    return rows


def release(path: Path, **options: object) -> list[list[str]]:
    out = path.with_name("out.csv")
    sf.release(path, out, key=KEY, identifier=["id"], keep=["remark"], method="adp", shuffle=False, force=True)
    with out.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_backslash_escapes_are_refused_and_read_when_said(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_bytes(backslashed(people()))
    with pytest.raises(DataError, match="line 2 has a backslash before a quote") as caught:
        release(path)
    assert "escape='backslash'" in str(caught.value), "the library speaks Python"
    assert "SECRET" not in str(caught.value)
    assert not (tmp_path / "out.csv").exists()
    out = tmp_path / "out.csv"
    done = sf.release(
        sf.CsvFile(path, escape="backslash"),
        out,
        key=KEY,
        identifier=["id"],
        keep=["remark"],
        shuffle=False,
        method="adp",
    )
    assert done.n_rows == 40
    assert done.broken == 40, "every remark holds a comma: they are counted"
    with out.open(encoding="utf-8", newline="") as file:
        assert [row[0] for row in csv.reader(file)][1:] == [row[1] for row in people()[1:]]
    assert "SECRET" not in out.read_text()


def test_the_command_takes_the_dialect_and_counts_cells_with_breaks(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_bytes(backslashed(people()))
    base = ["release", str(path), "-o", str(tmp_path / "out.csv"), "--key", str(tmp_path / "k"), "-m", "adp"]
    roles = ["--id", "id", "--keep", "remark"]
    assert CliRunner().invoke(cli.sfumato, [*base, *roles]).exit_code != 0
    done = CliRunner().invoke(cli.sfumato, [*base, *roles, "--escape", "backslash"])
    assert done.exit_code == 0, done.output
    assert "40 kept text cells hold a line break or a separator" in done.output
    assert "SECRET" not in (tmp_path / "out.csv").read_text()


DOUBTFUL = {
    "a quote inside a cell": ('1,5" pipe,3\n', "a quote that neither opens nor closes"),
    "a space before a quote": ('1, "a, b",3\n', "a quote that neither opens nor closes"),
    "text behind a quote": ('1,"a" b,3\n', "a quote that neither opens nor closes"),
    "a quote never closed": ('1,"a,3\n', "a quote that"),
    "a lone quote in two records": ('1,",3\n2,",4\n', "whose every line would be a record by itself"),
    "a record inside a cell": ('1,"good,3\nC7,size 5",9\n', "whose every line would be a record by itself"),
    "three records in one": ('1,"a,3\nNA,b,4\n3,c",5\n', "whose every line would be a record by itself"),
    "a backslash at the end of a cell": ('1,"C:\\",3\n', "a backslash before a quote"),
    "carriage returns": ("1,a,3\r2,b,4\r3,c,5\n", "a carriage return that ends no line"),
}


@pytest.mark.parametrize("name", DOUBTFUL)
@pytest.mark.parametrize("batch", [None, 2])
def test_what_two_readers_read_differently_is_refused_with_its_line(
    tmp_path: Path, name: str, batch: int | None
) -> None:
    bad, expected = DOUBTFUL[name]
    path = tmp_path / "in.csv"
    path.write_text("a,t,b\n" + "".join(f"{i},text {i},{i * 2}\n" for i in range(50)) + bad, newline="")
    with pytest.raises(DataError, match=expected) as caught:
        _ = [raw.frame for raw in open_source(path, batch_rows=batch).batches()]
    assert "line 5" in str(caught.value), "the line is named"


def test_files_with_carriage_returns_alone_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_bytes(b"a,b\r1,2\r3,4\r")
    with pytest.raises(DataError, match="carriage return"):
        open_source(path)


def test_two_separators_are_asked_about(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text("a;b,c\n" + "".join(f"{i};{i},{i}\n" for i in range(30)))
    with pytest.raises(DataError, match="two different separators"):
        open_source(path)
    assert open_source(sf.CsvFile(path, separator=",")).names == ("a;b", "c")
    assert open_source(sf.CsvFile(path, separator=";")).names == ("a", "b,c")


def test_what_is_said_must_make_sense(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="quote must be one of"):
        sf.CsvFile("x.csv", quote="`")
    with pytest.raises(ParameterError, match="nothing to escape"):
        sf.CsvFile("x.csv", quote="none", escape="backslash")


_CELLS = st.text(st.sampled_from(list("ab\\\"', \n;é")), max_size=8)


@st.composite
def _tables(draw) -> list[list[str]]:
    n = draw(st.integers(2, 12))
    texts = draw(st.lists(_CELLS, min_size=n, max_size=n))
    return [[f"SECRET-{i}", text, str(i * 3 % 7)] for i, text in enumerate(texts)]


def _written(rows: list[list[str]], dialect: str) -> bytes:
    out = io.StringIO()
    options: dict[str, object] = {"lineterminator": "\n"}
    if dialect == "backslash":
        options |= {"doublequote": False, "escapechar": "\\", "quoting": csv.QUOTE_ALL}
    elif dialect == "single":
        options |= {"quotechar": "'", "quoting": csv.QUOTE_ALL}
    elif dialect == "all":
        options |= {"quoting": csv.QUOTE_ALL}
    csv.writer(out, **options).writerows([["id", "t", "x"], *rows])
    return out.getvalue().encode()


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(_tables(), st.sampled_from(["backslash", "single", "all", "minimal"]), st.sampled_from([None, 1, 3]))
def test_any_dialect_is_read_as_it_was_meant_or_refused(rows: list[list[str]], dialect: str, batch: int | None) -> None:
    """Unsaid, a file is read right or refused; said, it is always read right."""
    said = {
        "backslash": {"escape": "backslash"},
        "single": {"quote": "'"},
        "all": {"quote": '"'},
        "minimal": {"quote": '"'},
    }
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "in.csv"
        path.write_bytes(_written(rows, dialect))
        try:
            unsaid = [list(row) for raw in open_source(path, batch_rows=batch).batches() for row in raw.frame.rows()]
        except DataError:
            unsaid = None
        told = [
            list(row)
            for raw in open_source(sf.CsvFile(path, **said[dialect]), batch_rows=batch).batches()
            for row in raw.frame.rows()
        ]
    meant = [[cell or None for cell in row] for row in rows]
    assert [[cell or None for cell in row] for row in told] == meant
    if unsaid is not None:
        assert len(unsaid) == len(rows), "no record is merged or invented"
        assert all("SECRET" not in (row[1] or "") for row in unsaid)


@pytest.mark.parametrize("ends", ["", "\n\n", "\r\n\r\n\r\n"])
def test_addresses_letters_and_blank_lines_at_the_end_are_ordinary(tmp_path: Path, ends: str) -> None:
    path = tmp_path / "in.csv"
    cells = ["12 Street\nLondon, UK,\nend", "Hello\nDear Sir,\nbye", "plain", 'with "quotes"\nand more']
    path.write_bytes(_written([[str(i), cell, "4"] for i, cell in enumerate(cells * 9)], "minimal") + ends.encode())
    for batch in (None, 1, 3):
        read = [row[1] for raw in open_source(path, batch_rows=batch).batches() for row in raw.frame.rows()]
        assert read == cells * 9


def test_an_ordinary_file_with_quotes_and_line_breaks_is_not_refused(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    rows = [[str(i), f'two\nlines, and "quotes" {i}', str(i)] for i in range(30)]
    path.write_bytes(_written(rows, "minimal"))
    assert [row[1] for raw in open_source(path).batches() for row in raw.frame.rows()] == [row[1] for row in rows]
