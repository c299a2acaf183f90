"""Work grows with the number of columns, not with its square: counted in calls, not in seconds."""

from __future__ import annotations

import cProfile
import pstats
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.attack import run_attack
from sfumato.attack.engine.blocks import WIDE, WIDE_ATOM
from sfumato.attack.linkage.traces import Trace
from sfumato.auditing import small_traces
from sfumato.auditing.aligned import align_tables
from sfumato.auditing.canaries import run_canaries
from sfumato.core.relations import MOST_PAIRS
from sfumato.files.opening import open_source
from sfumato.perturb.exchange.bound import bound_columns
from sfumato.policy.first_rows import profile
from tests.pipeline.tables import write

pytestmark = pytest.mark.filterwarnings("ignore::sfumato.SfumatoWarning")


def calls(work: Any, *, of: str = "") -> int:
    """Count the calls that some work makes, of functions whose names hold some words."""
    profile = cProfile.Profile()
    profile.enable()
    work()
    profile.disable()
    stats: Any = pstats.Stats(profile)
    return int(sum(row[1] for (_, _, name), row in stats.stats.items() if of in name))


def table(width: int) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    return pl.DataFrame({f"column {i}": rng.normal(0, 1, 20).round(2) for i in range(width)})


@pytest.mark.parametrize(
    ("ending", "method"),
    [*((ending, "adp") for ending in (".csv", ".tsv", ".parquet", ".arrow", ".xlsx")),
     *((".parquet", method) for method in ("mdp", "rdp", "ina", "one-d"))],
)  # fmt: skip
def test_a_release_of_four_times_the_columns_is_about_four_times_the_work(
    tmp_path: Path, ending: str, method: str
) -> None:
    def release(width: int) -> int:
        data = write(table(width), tmp_path / f"in{width}{ending}")
        target = tmp_path / f"out{width}{ending}"
        return calls(lambda: sf.release(data, target, method=method, key=tmp_path / f"{width}.key", threads=1))

    release(50)  # libraries are loaded once
    few, many = release(200), release(800)
    assert many < 5 * few, (few, many)


def test_no_cell_of_a_workbook_asks_for_the_names_of_all_columns(tmp_path: Path) -> None:
    data = write(table(100), tmp_path / "in.xlsx")
    asked = calls(lambda: sf.release(data, tmp_path / "out.xlsx", method="adp", threads=1), of="'columns' of")
    assert 0 < asked < 100, "a list of all names each time"


def test_a_dataframe_of_four_times_the_columns_is_about_four_times_the_work() -> None:
    def release(width: int) -> int:
        frame = table(width)
        return calls(lambda: sf.perturb.AdditiveNoise(insecure_seed=1).fit_transform(frame))

    release(50)
    few, many = release(200), release(800)
    assert many < 5 * few, (few, many)


@pytest.mark.parametrize("command", ["restore", "join", "policy init", "dry run"])
def test_so_are_other_commands(tmp_path: Path, command: str) -> None:
    pl.DataFrame({"label": range(20)}).write_csv(tmp_path / "labels.csv")

    def work(width: int) -> int:
        data, key = write(table(width), tmp_path / f"in{width}.csv"), tmp_path / f"{width}.key"
        out, back = tmp_path / f"out{width}.csv", tmp_path / f"back{width}.csv"
        sf.release(data, out, method="rdp", key=key, threads=1)
        commands: dict[str, Any] = {
            "restore": lambda: sf.restore(out, back, key),
            "join": lambda: sf.join(tmp_path / "labels.csv", data, back, key),
            "policy init": lambda: profile(open_source(data)),
            "dry run": lambda: sf.release(data, back, method="adp", key=key, dry_run=True, threads=1),
        }
        return calls(commands[command])

    work(50)
    few, many = work(200), work(800)
    assert many < 5 * few, (few, many)


@pytest.mark.parametrize("command", ["audit", "compare", "tune"])
def test_so_are_commands_that_attack(command: str) -> None:
    def work(width: int) -> int:
        frame = table(width)
        released = sf.perturb.AdditiveNoise(insecure_seed=1).fit_transform(frame)
        commands: dict[str, Any] = {
            "audit": lambda: sf.audit(frame, released, effort="quick"),
            "compare": lambda: sf.compare(frame, ["adp"], threads=1),
            "tune": lambda: sf.tune(frame, methods=["adp"], candidates=2, threads=1),
        }
        return calls(commands[command])

    work(20)
    few, many = work(60), work(240)
    assert many < 5 * few, (few, many)


PAIRS = ["pca-dr", "bayes", "spectral", "likelihood", "atom-likelihood", "look-up", "low-digits"]


def test_attacks_on_pairs_of_columns_look_at_blocks_of_a_wide_table(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    real = np.linalg.eigh

    def eigh(matrix: Any) -> Any:
        sizes.append(matrix.shape[-1])
        return real(matrix)

    monkeypatch.setattr(np.linalg, "eigh", eigh)
    original = table(1100)
    method = sf.perturb.AdditiveNoise(insecure_seed=1, scale=0.05)
    audit = sf.audit(original, method.fit_transform(original), method=method, attacks=PAIRS, utility=False)
    assert sizes.count(WIDE) >= 3, "the blocks of several attacks"
    assert max(sizes) == WIDE
    assert audit.grade == "F", "noise of a twentieth is seen through, blocks or not"


def test_canaries_of_a_wide_table_are_turned_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    real = np.linalg.qr

    def turning(matrix: Any) -> Any:
        sizes.append(max(matrix.shape))
        return real(matrix)

    monkeypatch.setattr(np.linalg, "qr", turning)
    found = {one.name: one.passed for one in run_canaries(table(WIDE + 100).to_numpy())}
    assert max(sizes) == WIDE
    assert (found["identity copy"], found["rotation"]) == (True, None)


def test_traces_of_a_wide_table_are_held_against_its_next_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small_traces, "_LOOKS", 5_000)

    def looks(width: int) -> int:
        rng = np.random.default_rng(0)
        whole = rng.integers(0, 1000, (600, width)).astype(float)
        released = np.rint(rng.normal(500, 300, whole.shape))
        tables = align_tables(whole, released)
        return calls(lambda: small_traces.measure_small_traces(tables), of="_says")

    few, many = looks(12), looks(120)
    assert 0 < few <= 10_000
    assert 0 < many <= 10_000
    traces: Any = [Trace(column, "last digit", np.zeros(3, dtype=np.int64)) for column in range(100)]
    assert [one.column for one in small_traces._Near(traces, 200, 100).of(98)] == [98, 99, *range(23)]
    assert small_traces._Near(traces[:5], 200, 5).of(3) == traces[:5]


def categories(width: int) -> Any:
    return np.random.default_rng(0).integers(0, 3, (400, width)).astype(float)


def test_what_goes_together_is_looked_for_among_a_bounded_number_of_pairs() -> None:
    few, many = (
        calls(lambda width=width: bound_columns(categories(width), ["category"] * width), of="_impossible")
        for width in (600, 1200)
    )
    assert 0 < few <= MOST_PAIRS
    assert 0 < many <= MOST_PAIRS


def test_pairs_of_neighbours_are_found_in_a_wide_table() -> None:
    codes = categories(900)
    codes[:, 501] = codes[:, 500] // 2
    codes[:, 899] = codes[:, 898]
    assert sorted(bound_columns(codes, ["category"] * 900)) == [(500, 501), (898, 899)]


def test_a_column_is_looked_for_among_a_number_of_others() -> None:
    def tried(width: int) -> int:
        rng = np.random.default_rng(0)
        original = rng.integers(0, 3, (40, width)).astype(float)
        return calls(lambda: run_attack("look-up", original, original[:, ::-1].copy()), of="dictionary")

    assert tried(30) == 30**2
    assert tried(WIDE_ATOM + 32) == (WIDE_ATOM + 32) * WIDE_ATOM
