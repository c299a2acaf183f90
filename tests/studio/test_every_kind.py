"""A table of texts, flags, dates, marks and gaps in a real Chromium: kinds, previews, release, audit, comparison."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from playwright.sync_api import Page, expect

from sfumato.core.keys import Key
from sfumato.exceptions import DataError
from sfumato.policy.reading import parse_policy
from sfumato.studio.session import Session
from tests.studio.running import RunningStudio
from tests.studio.test_page import check_axe, choose, step, wait_for_verdict
from tests.values import FEW, exchanged

Open = Callable[..., Page]


def clients(n: int = 600) -> pl.DataFrame:
    """Return people with every kind of column."""
    rng = np.random.default_rng(3)
    kind = rng.integers(0, 3, n)
    days = np.datetime64("2015-01-01") + rng.integers(0, 3000, n).astype("timedelta64[D]")
    wage = np.round(20_000 + 9_000 * kind + rng.normal(0, 900, n), 2)
    table = pl.DataFrame(
        {
            "name": [f"person {i}" for i in rng.permutation(n)],
            "wage": ["?" if i % 40 == 0 else f"{one:.2f}" for i, one in enumerate(wage)],
            "job": np.array(["nurse", "farmer", "clerk", "cook"])[np.minimum(kind + rng.integers(0, 2, n), 3)],
            "married": rng.choice(["yes", "no"], n),
            "since": pl.Series(days).dt.strftime("%d.%m.%Y"),
            "visits": rng.poisson(2 + kind),
            "saved": np.where(rng.random(n) < 0.6, 0.0, np.round(rng.gamma(2.0, 900.0, n), 2)),
            "size": np.array(["small", "medium", "large"])[kind],
            "code": rng.integers(1, 5, n),
        }
    )
    gaps = pl.Series(rng.random(n) < 0.06)
    return table.with_columns(pl.when(gaps).then(None).otherwise(pl.col("job")).alias("job"))


GUESSED = {
    "name": ("text", "identifier"),
    "wage": ("continuous", "confidential"),
    "job": ("category", "confidential"),
    "married": ("flag", "confidential"),
    "since": ("date", "confidential"),
    "visits": ("count", "confidential"),
    "saved": ("spiked", "confidential"),
    "size": ("category", "confidential"),
    "code": ("count", "confidential"),
}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("clients") / "clients.csv"
    clients().write_csv(path)
    return path


def test_the_whole_way_of_a_mixed_table(studio: RunningStudio, open_page: Open, file: Path, tmp_path: Path) -> None:
    page = open_page(studio, accept_downloads=True)
    choose(page, file)
    for name, (kind, role) in GUESSED.items():
        expect(page.get_by_label(f"Kind of {name}")).to_have_value(kind)
        expect(page.get_by_label(f"Role of {name}")).to_have_value(role)
    expect(page.locator("table.columns")).not_to_contain_text("person 1")
    expect(page.locator("table.columns")).not_to_contain_text("nurse")
    assert page.get_by_label("Role of name").locator("option[value=confidential]").is_disabled()
    page.get_by_label("Kind of code").select_option("category")
    expect(page.locator("tr[data-name=code]")).to_contain_text("you say so; guessed: counts or codes")
    page.get_by_label("Kind of size").select_option("ordered")
    order = page.get_by_label("Order of size")
    order.fill("small, medium, large")
    order.press("Enter")
    expect(order).to_have_value("small, medium, large")
    check_axe(page)

    step(page, "Method")
    expect(page.locator(".method.chosen")).to_contain_text("Atom exchange")
    expect(page.get_by_role("button", name="Use Additive noise")).to_be_disabled()
    step(page, "Results")
    wait_for_verdict(page)
    page.locator("#histogram-column").select_option("job")
    shown = page.locator("table.bars")
    expect(shown).to_contain_text("nurse")
    expect(shown).to_contain_text("missing")
    cells = page.locator("table.cells")
    assert cells.locator("tbody tr").count() == 20
    assert cells.locator("thead th").all_inner_texts() == [name for name in GUESSED if name != "name"]
    own = {tuple("" if cell is None else str(cell) for cell in row) for row in clients().drop("name").iter_rows()}
    rows = [tuple(row.locator("td").all_inner_texts()) for row in cells.locator("tbody tr").all()]
    assert not own & {tuple("" if cell == "\u2013" else cell for cell in row) for row in rows}
    for width, scheme in ((390, "dark"), (1280, "light")):
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        check_axe(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator("#method").select_option("adp")
    expect(page.locator(".verdict")).to_contain_text("takes numbers only")
    page.locator("#method").select_option("exchange")
    wait_for_verdict(page)

    step(page, "Release")
    page.get_by_role("button", name="Release ").click()
    page.wait_for_selector("[data-status=done]")
    for kind in ("release", "policy"):
        with page.expect_download() as got:
            page.locator(f"a[href='/api/download/{kind}']").click()
        got.value.save_as(tmp_path / kind)
    policy = parse_policy((tmp_path / "policy").read_text())
    assert policy.method is not None
    assert policy.method.name == "exchange"
    assert {name: (one.kind, one.order) for name, one in policy.column.items()} == {
        "code": ("category", []),
        "size": ("ordered", ["small", "medium", "large"]),
    }
    before, after = clients(), pl.read_csv(tmp_path / "release", infer_schema=False)
    assert after.columns == before.columns[1:]
    for name in ("job", "married", "since", "size", "code", "visits"):
        assert exchanged(before[name].cast(pl.String), after[name]), name
    assert (after["wage"] == "?").sum() == pytest.approx((before["wage"] == "?").sum(), rel=FEW, abs=6)
    expect(page.get_by_role("link", name="Audit report")).to_be_visible()
    with page.expect_download() as got:
        page.locator("a[href='/api/download/report-data']").click()
    found = json.loads(Path(got.value.path()).read_text())
    assert set(found["columns"]) == set(after.columns)
    assert found["utility"]["columns"] > len(after.columns), "categories are clustered one-hot"
    said = studio.stop()
    assert "nurse" not in said
    assert "person" not in said


def test_methods_that_take_numbers_only_say_so_in_the_comparison(
    studio: RunningStudio, open_page: Open, file: Path
) -> None:
    page = open_page(studio)
    choose(page, file)
    step(page, "Compare")
    page.get_by_role("button", name="Compare all methods").click()
    expect(page.get_by_role("button", name="Compare again")).to_be_visible()
    rows = page.locator("table.compare tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("Atom exchange")
    expect(rows.last).to_contain_text("Additive noise")
    expect(rows.last).to_contain_text("takes numbers only, and these columns hold other values: wage, job, married")


def test_kinds_and_roles_are_checked(file: Path) -> None:
    session = Session()
    session.key = Key.from_insecure_seed(1)
    data = session.load(file, "clients.csv", "clients.csv", lambda _what, _share: None)
    assert data.default_method == "exchange"
    with pytest.raises(DataError, match="free text or an identifier"):
        data.set_roles({"name": "confidential"})
    with pytest.raises(DataError, match="cannot hold that"):
        data.set_kind("job", "continuous")
    with pytest.raises(DataError, match="no such column"):
        data.set_kind("nobody", "category")
    data.set_kind("name", "category")  # an owner may say so, and is told that it does not work
    data.set_roles({"name": "confidential"})
    with pytest.raises(DataError, match="free text or identifiers") as caught:
        data.prepared()
    assert "person" not in str(caught.value)
    data.set_kind("name", "text")
    assert data.roles["name"] == "identifier", "what is free text again is dropped again"
    data.set_kind("size", "ordered", ["small", "large"])
    with pytest.raises(DataError, match="not in the order") as caught:
        data.prepared()
    assert "medium" not in str(caught.value)
    data.set_roles(dict.fromkeys(data.others(), "keep"))
    assert data.default_method == "mix"
