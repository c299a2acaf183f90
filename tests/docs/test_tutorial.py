"""The tutorial: a new user's journey in six commands, run as it stands on the page, and what it prints there."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest

from sfumato import Key
from tools.make_tutorial import PAGE, PART, written

COMMAND = re.compile(r"^(?:pip|sfumato) .*$", re.MULTILINE)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """Return the page as its commands write it here, and the folder in which they ran.

    The key lies there already: a new one prints the same, but the grade would hang on it.
    """
    folder = tmp_path_factory.mktemp("tutorial")
    Key.from_insecure_seed(1).save(folder / "customers.key")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("SFUMATO_KEYS")
        return written(PAGE.read_text(encoding="utf-8"), folder), folder


def shape(text: str) -> str:
    """Return a text without what the key decides: numbers, fingerprints, and the rows of a table."""
    text = re.sub(r"\.[0-9a-f]{8}\.receipt", ".#.receipt", text)
    lines = [line for line in text.splitlines() if not line.startswith(("| ", "note: "))]
    return re.sub(r"\d[\d.,]*", "#", "\n".join(lines))


def printed(page: str) -> list[str]:
    """Return what stands on a page as printed, without the audit's sentence, which depends on the key."""
    found = [part["printed"] for part in PART.finditer(page) if part["printed"]]
    return [shape(text) for text in found if "Grade" not in text]


def test_the_page_shows_what_its_commands_print(made: tuple[str, Path]) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert printed(made[0]) == printed(page), "run make tutorial"
    assert re.search(r"^Grade [AB]: ", made[0], re.MULTILINE), "the audit's first line"


def test_six_commands_lead_from_nothing_to_labels_on_the_original_rows(made: tuple[str, Path]) -> None:
    page = PAGE.read_text(encoding="utf-8").partition("## What did it cost?")[0]
    typed = COMMAND.findall(page)
    programs = page.count("```python\n")
    assert typed[0] == "pip install sfumato"
    assert len(typed) + programs == 6
    before, after = (pl.read_csv(made[1] / name) for name in ("customers.csv", "segmented.csv"))
    assert after.drop("segment").equals(before)
    assert after["segment"].n_unique() == 5


def test_the_labels_are_those_of_the_original(made: tuple[str, Path]) -> None:
    share = re.search(r"^in another segment: ([\d.]+)% of", made[0], re.MULTILINE)
    assert share is not None
    assert float(share[1]) < 3
