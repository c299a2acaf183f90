"""The whole way in a real Chromium: file, columns, method, release, and the same bytes by the command line."""

from __future__ import annotations

import os
import shlex
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from playwright.sync_api import Page, expect

from tests.studio.running import RunningStudio
from tests.studio.test_page import choose, load_numbers, step

Open = Callable[..., Page]


def people(n: int = 900) -> pl.DataFrame:
    """Return people with an identifier, text, missing values, whole numbers and decimals."""
    rng = np.random.default_rng(5)
    kind = rng.integers(0, 4, n)
    age = np.rint(25 + 15 * kind + rng.normal(0, 3, n)).astype(int)
    income = np.round(20_000 + 9_000 * kind + rng.normal(0, 900, n), 2)
    visits = rng.poisson(2 + kind)
    table = pl.DataFrame(
        {
            "customer_id": [f"C{i:05d}" for i in rng.permutation(n)],
            "branch": rng.choice(["north", "south", "=cmd()"], n),
            "age": age,
            "income": income,
            "visits": visits,
        }
    )
    gaps = pl.Series(rng.random(n) < 0.05)
    return table.with_columns(pl.when(gaps).then(None).otherwise(pl.col("income")).alias("income"))


def release(page: Page) -> None:
    page.get_by_role("button", name="Release ").click()
    page.wait_for_selector("[data-status=done]")


def test_the_released_file_is_the_command_lines_byte_for_byte(
    studio: RunningStudio, open_page: Open, tmp_path: Path
) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    people().write_csv(mine / "customers.csv")
    page = open_page(studio, accept_downloads=True)
    choose(page, mine / "customers.csv")
    for name, role in [("customer_id", "identifier"), ("branch", "confidential"), ("age", "confidential")]:
        expect(page.get_by_label(f"Role of {name}")).to_have_value(role)
    page.get_by_label("Role of branch").select_option("keep")
    expect(page.locator("select.role-keep")).to_have_count(1)
    expect(page.locator("table.columns")).not_to_contain_text("C0")  # counts of identifiers, never values
    page.get_by_role("button", name="Next: method").click()
    page.get_by_role("button", name="Use Additive noise").click()
    page.get_by_label("Scale, as a number").fill("0.37")
    page.get_by_label("Scale, as a number").press("Enter")
    page.get_by_label("On top: Enhanced").check()
    expect(page.locator(".tried .chosen")).to_contain_text("scale 0.37 + Enhanced")
    page.get_by_role("button", name="Next: release").click()
    release(page)
    for kind in ("release", "policy"):
        with page.expect_download() as got:
            page.locator(f"a[href='/api/download/{kind}']").click()
        got.value.save_as(mine / got.value.suggested_filename)
    released = (mine / "customers-released.csv").read_bytes()
    command = page.locator("#command").inner_text()
    key = Path(page.locator("#key-path").inner_text())
    expect(page.get_by_role("link", name="Audit report")).to_be_visible()
    with page.expect_download() as got:
        page.get_by_role("link", name="Audit report").click()
    owners = Path(got.value.path()).read_text()
    assert owners.startswith("<!doctype html>")
    with page.expect_download() as got:
        page.get_by_role("link", name="Public summary").click()
    public = Path(got.value.path()).read_text()
    assert public.startswith("<!doctype html>")
    assert len(public) < len(owners), "nothing in it says how to break the release"

    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert key.read_text().splitlines()[-1] not in page.content(), "of the key only its path"
    (mine / "customers-released.csv").unlink()
    words = shlex.split(command)
    assert words[:2] == ["sfumato", "release"]
    environment = {**os.environ, "XDG_DATA_HOME": str(studio.home)}
    done = subprocess.run(
        [sys.executable, "-m", "sfumato", *words[1:]],
        cwd=mine,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (mine / "customers-released.csv").read_bytes() == released

    original, table = pl.read_csv(mine / "customers.csv"), pl.read_csv(mine / "customers-released.csv")
    assert table.columns == ["branch", "age", "income", "visits"]
    assert table.schema["age"] == pl.Int64
    assert table["income"].null_count() == original["income"].null_count()
    assert set(table["branch"]) == {"north", "south", "'=cmd()"}, "formulas are neutralised"
    said = studio.stop()
    assert key.read_text().splitlines()[-1] not in said
    assert studio.token in said.splitlines()[0]
    assert len(said.splitlines()) <= 3, f"nothing else is logged: {said}"
    assert studio.folders == []


def test_a_release_goes_on_while_the_page_is_closed(studio: RunningStudio, open_page: Open, tmp_path: Path) -> None:
    page = open_page(studio)
    load_numbers(page)
    step(page, "Method")
    page.get_by_role("button", name="Use Additive noise").click()  # any method will do
    step(page, "Release")
    page.get_by_role("button", name="Release ").click()
    page.wait_for_selector("[data-status]")
    page.reload()
    expect(page.locator("#command")).to_contain_text("sfumato release customers.csv")
    other = page.context.new_page()
    page.close()
    other.goto(f"{studio.origin}/#release")
    expect(other.locator("#command")).to_contain_text("sfumato release customers.csv")
    expect(other.get_by_role("link", name="Download the release")).to_be_visible()
    with other.expect_download() as got:
        other.get_by_role("link", name="The demo table").click()
    assert Path(got.value.path()).read_bytes().startswith(b"customer_id,branch,age")


@pytest.fixture(scope="module")
def million(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a table of a million people."""
    rng = np.random.default_rng(0)
    n = 1_000_000
    kind = rng.integers(0, 5, n)
    columns = {
        name: np.round(10.0 * centre[kind] + rng.normal(0, 2, n), 2)
        for name, centre in zip(("balance", "spend", "tenure", "score"), rng.normal(size=(4, 5)), strict=True)
    }
    path = tmp_path_factory.mktemp("million") / "million.csv"
    pl.DataFrame({"id": np.arange(n) + 1_000_000, "age": 20 + 9 * kind + rng.integers(0, 9, n), **columns}).write_csv(
        path
    )
    return path


def test_a_million_rows_are_previewed_cancelled_and_released_once_at_a_time(
    start: Callable[..., RunningStudio], open_page: Open, million: Path
) -> None:
    studio = start(million)
    page = open_page(studio)
    expect(page.locator("#file")).to_contain_text("million.csv · 1,000,000 rows")
    expect(page.get_by_label("Role of id")).to_have_value("identifier")
    step(page, "Release")  # by the default method, which takes long enough to be cancelled
    page.get_by_role("button", name="Release 1,000,000 rows").click()
    page.wait_for_selector("[data-status=running]")
    busy = page.evaluate(
        """async () => {
          const headers = { "x-sfumato-page": localStorage.getItem("studio-secret") };
          const { dataset } = await (await fetch("/api/session", { headers })).json();
          const body = JSON.stringify({ dataset: dataset.id, settings: { method: "adp" } });
          const answer = await fetch("/api/release", { method: "POST", body, headers });
          return [answer.status, (await answer.json()).error];
        }"""
    )
    assert busy == [409, "another release is running"]
    page.get_by_role("button", name="Cancel").click()
    page.wait_for_selector("[data-status=cancelled]")
    expect(page.get_by_text("Nothing was released, and nothing is left behind.")).to_be_visible()
    assert studio.files() == []
    assert list((studio.home / "sfumato").rglob("*.key")) == []
    assert million.exists(), "a file named in the terminal is only read"
    step(page, "Results")
    page.locator("#method").select_option("adp")
    expect(page.locator(".tried .chosen")).to_contain_text("Additive noise")
    expect(page.locator(".verdict")).to_contain_text("Preview on 20,000 of 1,000,000 rows")
    step(page, "Release")
    release(page)
    with page.expect_download() as got:
        page.get_by_role("link", name="Download the release").click()
    assert Path(got.value.path()).read_bytes().count(b"\n") == 1_000_001


def test_closing_the_terminal_during_a_release_leaves_nothing(
    start: Callable[..., RunningStudio], open_page: Open, million: Path
) -> None:
    studio = start(million)
    page = open_page(studio)
    expect(page.locator("#file")).to_contain_text("million.csv")
    step(page, "Release")
    page.get_by_role("button", name="Release 1,000,000 rows").click()
    page.wait_for_selector("[data-status=running]")
    time.sleep(0.5)
    said = studio.stop(signal.SIGHUP)
    assert "Traceback" not in said
    assert studio.folders == []
    assert list((studio.home / "sfumato").rglob("*.key")) == []
