"""The report as its readers meet it: complete, deterministic, without originals, and nothing to hide in public."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import sfumato as sf
from sfumato.attack.catalogue import attacks
from sfumato.auditing.densities import Densities, _shades, measure_densities
from sfumato.cli import sfumato
from tests.report import reports

VOID = {"meta", "link", "br", "img", "path", "circle", "rect", "polyline"}


class Outline(HTMLParser):
    """Reads a page strictly: every tag closed in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.words.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.seen if name == tag]


@pytest.mark.parametrize("name", ["audit.html", "public.html"])
def test_the_report_of_a_fixed_table_is_the_golden_one(name: str) -> None:
    golden = (reports.GOLDEN / name).read_text(encoding="utf-8")
    assert reports.pages(reports.golden_audit())[name] == golden, (
        "look at the difference; if it is meant, run make golden-reports"
    )


def test_the_same_audit_gives_the_same_bytes_again() -> None:
    again = sf.audit(reports.table(), reports.released(), method=reports.method(), clusters=(2, 3, 4))
    assert again.to_html() == reports.audit().to_html()


@pytest.mark.parametrize("name", ["audit.html", "public.html"])
def test_pages_are_sound_and_need_nothing_from_outside(name: str) -> None:
    page = reports.pages(reports.audit())[name]
    outline = Outline(page)
    assert page.startswith("<!doctype html>")
    assert not outline.all("script")
    assert not outline.all("link")
    assert not outline.all("img")
    csp = [one["content"] for one in outline.all("meta") if one.get("http-equiv") == "Content-Security-Policy"]
    assert csp == ["default-src 'none'; style-src 'unsafe-inline'; img-src data:"]
    assert not re.findall(r"https?://", page)
    assert not re.findall(r"\son[a-z]+=|javascript:|url\(", page)
    assert not [attributes for _, attributes in outline.seen if "id" in attributes], "ids would have to be made up"


def test_pages_can_be_read_by_everyone() -> None:
    page = reports.pages(reports.audit())["audit.html"]
    outline = Outline(page)
    assert len(outline.all("h1")) == 1
    assert len(outline.all("h2")) >= 8
    assert all(one.get("role") == "img" for one in outline.all("svg"))
    for svg in re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL):
        assert re.search(r"<title>[^<]{5,}</title><desc>[^<]{20,}</desc>", svg)
    assert page.count("<caption>") == len(outline.all("table")) > 4
    assert all(one.get("scope") in {"row", "col"} for one in outline.all("th"))
    assert 'lang="en"' in page
    assert "prefers-color-scheme:dark" in page
    assert "@media print" in page


def _contrast(first: str, second: str) -> float:
    def luminance(colour: str) -> float:
        colour = colour if len(colour) == 7 else "#" + "".join(2 * letter for letter in colour[1:])
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))

    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_text_stands_out_from_its_paper_in_light_and_dark() -> None:
    page = reports.pages(reports.audit())["audit.html"]
    styles = re.findall(r"--ink:(#\w+);--dim:(#\w+);--paper:(#\w+);--line:#\w+;--soft:(#\w+)", page)
    assert len(styles) == 3, "light, dark and print"
    for ink, dim, paper, soft in styles:
        for words in (ink, dim):
            for ground in (paper, soft):
                assert _contrast(words, ground) >= 4.5
    badges = re.findall(r"\.g[A-F]\{background:(#\w+);color:(#\w+)\}", page)
    assert len(badges) == 5
    assert all(_contrast(*pair) >= 4.5 for pair in badges)


def test_the_owners_report_tells_everything_in_order() -> None:
    page, found = reports.pages(reports.audit())["audit.html"], reports.audit()
    words = " ".join(Outline(page).words)
    assert found.verdict in words
    parts = [
        found.verdict,
        "What the release is still good for",
        "What is hidden, column by column",
        "Every attack, by what it takes",
        "Records known, share of the others recovered",
        "What did not run",
        "To repeat it",
    ]
    places = [words.index(part) for part in parts]
    assert places == sorted(places)
    for line in found.attacks:
        assert line.id in words, "every attack is named, whether it ran or not"
    for text in found.did_not_run:
        assert text in words
    assert "sfumato audit people.csv released.csv --report audit.html" in words
    assert "visits &amp; &lt;stays&gt;" in page
    assert "insecure_seed" in words


def test_no_original_cell_is_in_any_page() -> None:
    rng = np.random.default_rng(5)
    original = pl.DataFrame({name: np.round(rng.normal(size=400) * 1e4, 3) for name in "abcd"})
    method = sf.perturb.AdditiveNoise(0.5, key=sf.Key(bytes(range(32))))
    after = method.fit_transform(original)
    found = sf.audit(original, after, method=method, clusters=(2,))
    held = {value for column in after.get_columns() for value in column.to_list()}
    everything = found.to_html() + found.to_html(public=True) + found.to_json() + found._repr_html_()
    for column in original.get_columns():
        for value in column.to_list():
            if value not in held and len(str(abs(value))) > 6:
                assert str(abs(value)) not in everything
        for figure in (column.mean(), column.std(), column.min(), column.max()):
            assert f"{abs(figure):.6g}" not in everything


def test_the_public_summary_holds_grade_and_utility_and_no_way_in() -> None:
    found = reports.audit()
    page = reports.pages(reports.audit())["public.html"]
    words = " ".join(Outline(page).words)
    assert f"grade {found.grade}" in words
    assert found.utility is not None
    assert f"{found.utility.excess_mean:.1%}".replace("%", " %") in words
    assert found.verdict not in words
    for secret in (
        *(name.split()[0] for name in reports.NAMES),
        "0.25",
        "AdditiveNoise",
        "adp",
        "scale",
        "sfumato audit",
    ):
        assert not re.search(rf"\b{re.escape(secret)}\b", words), secret
    for row in attacks():
        assert row.name not in words
        assert not re.search(rf"\b{re.escape(row.id)}\b", words), row.id
    assert ">the original</text>" not in page, "no picture of the original"


def test_thin_places_of_the_pictures_stay_empty() -> None:
    # rows in the middle of cells of a picture of 2 x 2: four in one cell, five in another, many in a third
    places = np.repeat([[0.25, 0.25], [0.75, 0.25], [0.25, 0.75]], [4, 5, 400], axis=0)
    top, bottom = _shades(places, 2)
    assert bottom == "01", "four rows are hidden, five are not"
    assert top == "60"


@pytest.mark.parametrize("rows", [30, 178, 3000])
def test_no_shaded_cell_holds_fewer_than_five_rows(rows: int) -> None:
    rng = np.random.default_rng(rows)
    table = rng.normal(size=(rows, 4)) + 4 * rng.integers(0, 3, (rows, 1))
    pictures = measure_densities(table, table[:, ::-1])
    assert pictures is not None
    for picture in (pictures.before, pictures.after):
        shaded = sum(digit != "0" for row in picture for digit in row)
        assert 5 * shaded <= rows
        assert shaded or rows < 100


def test_a_release_that_lies_elsewhere_is_seen_from_its_own_side() -> None:
    rng = np.random.default_rng(0)
    table = rng.normal(size=(400, 3)) + 5 * rng.integers(0, 2, (400, 1))
    near, far = measure_densities(table, table + 0.01), measure_densities(table, table + 1e6)
    assert near is not None
    assert far is not None
    assert (near.moved, far.moved) == (False, True)
    assert any(digit != "0" for row in far.after for digit in row)


def test_pages_stay_under_a_megabyte_for_any_number_of_rows() -> None:
    found = reports.audit()
    finest = tuple("".join(str(1 + (i + j) % 6) for j in range(40)) for i in range(40))
    wide = found.model_copy(
        update={
            "n_rows": 1_000_000,
            "densities": Densities(finest, finest, moved=False),
            "privacy": type(found.privacy)(**{**vars(found.privacy), "columns": found.privacy.columns * 100}),
            "columns": found.columns * 100,
        }
    )
    assert len(wide.to_html().encode()) < 1_000_000


def test_the_command_writes_both_pages(tmp_path: Path) -> None:
    reports.table().write_csv(tmp_path / "people.csv")
    reports.released().write_csv(tmp_path / "released.csv")
    asked = ["audit", str(tmp_path / "people.csv"), str(tmp_path / "released.csv"), "--attack", "nearest"]
    pages = ["--report", str(tmp_path / "owner.html"), "--public-summary", str(tmp_path / "public.html")]
    done = CliRunner().invoke(sfumato, [*asked, *pages])
    assert done.exit_code == 0, done.output
    assert "keep it to yourself" in done.stdout
    owner, public = ((tmp_path / f"{name}.html").read_text(encoding="utf-8") for name in ("owner", "public"))
    assert "For the owner only" in owner
    assert "For everybody" in public
    done = CliRunner().invoke(sfumato, [*asked, "--public-summary", str(tmp_path / "none" / "public.html")])
    assert "no folder" in str(done.exception)
