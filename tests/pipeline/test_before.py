"""Files of earlier versions still open: a key, receipts, a policy and a report."""

from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl
import pytest

import sfumato as sf
from sfumato.exceptions import ReceiptError

BEFORE = Path(__file__).resolve().parents[1] / "before"
pytestmark = pytest.mark.filterwarnings("ignore::sfumato.SfumatoWarning")


@pytest.fixture
def before(tmp_path: Path) -> Path:
    shutil.copytree(BEFORE, tmp_path / "before")
    (tmp_path / "before" / "made.key").chmod(0o600)
    return tmp_path / "before"


def test_an_old_release_is_restored_and_joined(before: Path) -> None:
    done = sf.restore(
        before / "released.csv", before / "back.csv", before / "made.key", receipt=before / "made.receipt"
    )
    assert done.notes == (), "the digest of the file is known"
    original, back = pl.read_csv(before / "original.csv"), pl.read_csv(before / "back.csv")
    assert back["age"].to_list() == original["age"].to_list()
    released = pl.read_csv(before / "mixed.csv")
    released.with_columns(label="town").write_csv(before / "labels.csv")
    joined = sf.join(
        before / "labels.csv",
        before / "original.csv",
        before / "joined.csv",
        before / "made.key",
        receipt=before / "mixed.receipt",
        released=before / "mixed.csv",
    )
    assert joined.notes == ()
    after = pl.read_csv(before / "joined.csv")
    assert after["label"].to_list() == after["town"].to_list()


def test_an_old_receipt_refuses_another_file_and_says_what_it_cannot_know(before: Path) -> None:
    pl.read_csv(before / "released.csv").sort("age").write_csv(before / "sorted.csv")
    with pytest.raises(ReceiptError, match="not the release of this receipt"):
        sf.restore(before / "sorted.csv", before / "back.csv", before / "made.key", receipt=before / "made.receipt")
    found = sf.audit(
        pl.read_csv(before / "original.csv").drop("id"),
        pl.read_csv(before / "released.csv"),
        key=before / "made.key",
        receipt=before / "made.receipt",
        utility=False,
        attacks=["affine"],
    )
    assert any("could not be checked" in note for note in found.notes)


def test_the_same_key_and_policy_give_the_same_bytes_unless_the_method_hides_more_now(before: Path) -> None:
    sf.release(
        before / "original.csv",
        before / "again.csv",
        before / "policy.toml",
        before / "made.key",
        receipt=before / "again.receipt",
    )
    assert (before / "again.csv").read_bytes() == (before / "released.csv").read_bytes()
    sf.release(
        before / "original.csv",
        before / "mixed again.csv",
        key=before / "made.key",
        identifier=["id"],
        keep=["town"],
        parameters={"clusterings": [2, 3], "draws": 1},
    )
    again, old = pl.read_csv(before / "mixed again.csv"), pl.read_csv(before / "mixed.csv")
    assert again["town"].to_list() == old["town"].to_list(), "the order of the rows and what is kept"
    assert not again.equals(old), "means carry noise since then: the changelog says so"


def test_an_old_report_is_read(before: Path) -> None:
    text = (before / "audit.json").read_text()
    assert sf.Audit.model_validate_json(text).grade == "F"
