"""How numbers stand in a CSV file: what is counted on the way in, and what is written on the way out."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.core.keys import Key
from sfumato.core.tiles import in_order
from sfumato.files.numbers import decimals_of_block, decimals_of_text, from_units, text_of_units

KEY = Key.from_insecure_seed(1)

number = st.builds(
    lambda sign, whole, behind: f"{sign}{whole}{behind}",
    st.sampled_from(["", "-"]),
    st.integers(0, 10**6),
    st.one_of(st.just(""), st.integers(0, 10**6).map(lambda n: f".{n}"), st.just(".00")),
)
word = st.text(alphabet="xyz.e -", max_size=6)


@given(
    st.lists(st.tuples(number, word, number), min_size=1, max_size=20), st.sampled_from(["\n", "\r\n"]), st.booleans()
)
@example([("1", "", "2.50")], "\r\n", False)
@example([("1", "a.b.c", "2"), ("1.5", ".", "2")], "\n", True)
def test_decimals_counted_in_a_block_are_those_of_its_cells(rows, line_end: str, ended: bool) -> None:
    block = line_end.join(";".join(row) for row in rows) + (line_end if ended else "")
    found = decimals_of_block(block.encode(), ";", 3, [0, 2])
    assert found == [decimals_of_text(pl.Series([row[i] for row in rows])) for i in (0, 2)]


@pytest.mark.parametrize("block", [b'"1.5",2\n', b"1.5e3,2\n", b"1,2.5E-3\n"])
def test_quotes_and_powers_of_ten_are_left_to_the_cells(block: bytes) -> None:
    assert decimals_of_block(block, ",", 2, [0, 1]) is None


@given(st.lists(st.integers(-(10**12), 10**12), min_size=1, max_size=50), st.integers(1, 4))
def test_plain_numbers_are_written_as_the_text_of_their_units(units: list[int], decimals: int) -> None:
    whole = np.array(units, dtype=np.float64) + 0.0
    written = pl.DataFrame({"x": from_units(whole, decimals)}).write_csv(include_header=False).splitlines()
    assert written == text_of_units(whole, decimals, 1).to_list()


@pytest.mark.parametrize("batch", [3, 7, 100])
def test_a_column_that_begins_with_whole_doubles_is_written_alike_in_any_batches(tmp_path: Path, batch: int) -> None:
    values = [float(i) for i in range(20)] + [i + 0.5 for i in range(20)]
    pl.DataFrame({"a": values, "b": values[::-1]}).write_parquet(tmp_path / "in.parquet")
    outs = []
    for rows in (batch, 1000):
        target = tmp_path / f"{rows}.csv"
        sf.release(tmp_path / "in.parquet", target, key=KEY, method="adp", parameters={"scale": 0.3}, batch_rows=rows)
        outs.append(target.read_bytes())
    assert outs[0] == outs[1]
    assert b".0" in outs[0], "a whole number among decimals shows how it is written"


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_come_in_order_and_an_error_at_its_turn(threads: int) -> None:
    done: list[int] = []

    def work(item: int) -> int:
        if item == 7:
            raise ValueError("seven")
        return item * item

    with pytest.raises(ValueError, match="seven"):
        done.extend(in_order(range(100), work, threads))
    assert done == [i * i for i in range(7)]


def test_few_batches_are_held_at_a_time() -> None:
    held, most, lock = 0, 0, threading.Lock()

    def items():
        nonlocal held, most
        for i in range(50):
            with lock:
                held += 1
                most = max(most, held)
            yield i

    for _ in in_order(items(), lambda i: i, 2):
        with lock:
            held -= 1
    assert most <= 4, "threads, one waiting, and the one that is read"
