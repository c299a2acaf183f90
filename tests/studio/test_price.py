"""A guarantee in the studio: a slider of epsilon, and what each step costs in plain words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from sfumato.core.keys import Key
from sfumato.policy.reading import parse_policy
from sfumato.policy.text import policy_text
from sfumato.studio.events import Stream
from sfumato.studio.policies import policy_of
from sfumato.studio.prepared import prepare
from sfumato.studio.preview import preview
from sfumato.studio.price import dearer, odds
from sfumato.studio.settings import catalogue_data, checked_settings
from tests.studio.running import RunningStudio


def groups(n: int) -> np.ndarray:
    rng = np.random.default_rng(5)
    return rng.normal(size=(n, 3)) + 12.0 * rng.integers(0, 3, (n, 1)) * [1.0, 0.5, -1.0]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    np.savetxt(path, groups(2500).round(2), fmt="%.2f", delimiter=",", header="a,b,c", comments="")
    return path


def test_epsilon_is_a_slider_and_bounds_are_not_asked_of_the_table() -> None:
    row = next(one for one in catalogue_data() if one["id"] == "dp")
    controls = {one["name"]: one for one in row["parameters"]}
    assert row["draws_rows"]
    assert controls["epsilon"]["control"] == "slider"
    assert (controls["epsilon"]["low"], controls["epsilon"]["high"]) == (0.1, 10.0)
    assert "search_bounds" not in controls
    assert "privately" in controls["bounds"]["text"]
    settings = checked_settings({"method": "dp", "parameters": {"epsilon": 2}})
    policy = policy_of({"a": "confidential"}, settings)
    assert parse_policy(policy_text(policy)).method.parameters == {"epsilon": 2.0, "search_bounds": True}


def test_more_epsilon_costs_less_and_rows_take_the_colour_of_the_nearest_cluster() -> None:
    prepared = prepare(pl.DataFrame(groups(3000), schema=["a", "b", "c"]), "abc")
    key, costs = Key.from_insecure_seed(1), []
    for epsilon in (0.15, 5.0):
        sent: list[dict] = []
        settings = checked_settings({"method": "dp", "parameters": {"epsilon": epsilon}})
        entry = preview(prepared, settings, key, None, 3, Stream(sent.append), n_rows=90_000)
        price = next(item for item in sent if item["type"] == "price")
        assert entry["price"]["cost"] == price["cost"]
        assert odds(epsilon, 1e-6) == price["guarantee"]
        assert dearer(price["cost"]) in price["price"]
        assert "all 90,000" in price["price"]
        assert "which the guarantee does not cover" in price["chosen"]
        assert set(next(item for item in sent if item["type"] == "scatter")["labels"]) == {3}
        costs.append(price["cost"])
    assert costs[1] < min(1.1, costs[0])


def test_the_slider_in_the_browser(
    start: Callable[..., RunningStudio], open_page: Callable[..., Page], file: Path
) -> None:
    page = open_page(start(file))
    page.get_by_role("navigation", name="Steps").get_by_role("link", name="Results").click()
    page.locator("#method").select_option("dp")
    price = page.get_by_role("region", name="What the guarantee costs")
    expect(price).to_contain_text("by a factor of at most 2.7")
    expect(price).to_contain_text("of the people into another cluster")
    page.get_by_role("slider", name="Epsilon").press("End")
    expect(price).to_contain_text("by a factor of at most 22,026")
    expect(price.locator("tbody tr")).to_have_count(2)
    expect(price.locator("tbody tr").nth(1)).to_contain_text("10")
    expect(price).to_contain_text("Looking spends nothing of the budget")
    assert Axe().run(page).response["violations"] == []
    page.locator("#method").select_option("adp")
    expect(price).to_be_hidden()
