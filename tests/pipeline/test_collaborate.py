"""Several owners: what they release together is the release of their joint table, byte for byte."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

import sfumato as sf
from sfumato.cli import sfumato
from sfumato.exceptions import ParameterError, ReceiptError, RepeatedReleaseError, SharedKeyWarning
from sfumato.pipeline.collaborate import merge, release_joint, summarize
from tests.pipeline.tables import people

pytestmark = [pytest.mark.filterwarnings("ignore::sfumato.SfumatoWarning"), pytest.mark.usefixtures("everybody")]
OWNERS = ("bank", "shop", "tram")


def command(*words: str | Path) -> str:
    done = CliRunner().invoke(sfumato, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    whole = people(600, missing=True)
    whole.write_csv(tmp_path / "all.csv")
    for owner, (start, rows) in zip(OWNERS, ((0, 250), (250, 51), (301, 299)), strict=True):
        whole.slice(start, rows).write_csv(tmp_path / f"{owner}.csv")
    command("key", "new", tmp_path / "shared.key")
    return tmp_path


def together(folder: Path, first: list[str]) -> int:
    """Run the protocol by its commands until every owner can release; return the number of passes."""
    key, joint = folder / "shared.key", folder / "joint"
    for number in range(1, 30):
        more = first if number == 1 else ["--joint", str(joint)]
        for owner in OWNERS:
            words = ["summarize", folder / f"{owner}.csv", "-o", folder / f"{owner}.sum", "--key", key, "--force"]
            command(*words, "--owner", owner, *more)
        order = OWNERS if number == 1 else OWNERS[::-1]  # only the first merge says the order
        said = command("merge", *(folder / f"{o}.sum" for o in order), "-o", joint, "--key", key, "--force")
        if "ready" in said:
            return number
    raise AssertionError("it does not end")


@pytest.mark.parametrize("method", ["one-d", "ina", "cov", "mix"])
def test_the_union_of_the_owners_releases_is_the_release_of_the_union(tables: Path, method: str) -> None:
    policy = tables / "policy.toml"
    policy.write_text(
        '[columns]\nidentifier = ["id"]\nkeep = ["town"]\n[column.age]\nbounds = [10, 99]\n[release]\nshuffle = false\n'
        f'[method]\nname = "{method}"\n' + ('clusterings = [2, 3, "ward 3"]\ndraws = 2\n' if method == "mix" else "")
    )
    key = tables / "shared.key"
    sf.release(tables / "all.csv", tables / "expected.csv", policy, key)
    together(tables, ["--policy", str(policy)])
    parts = []
    for owner in OWNERS:
        out = tables / f"{owner}.out.csv"
        command(
            "release", tables / f"{owner}.csv", "-o", out, "--key", key, "--joint", tables / "joint", "--owner", owner
        )
        header, _, rows = out.read_bytes().partition(b"\n")
        parts.append(rows)
    assert header + b"\n" + b"".join(parts) == (tables / "expected.csv").read_bytes()


def test_shuffled_releases_hold_the_same_rows_and_can_be_joined_back(tables: Path) -> None:
    key = tables / "shared.key"
    sf.release(tables / "all.csv", tables / "expected.csv", key=key, method="one-d", identifier=["id"], keep=["town"])
    together(tables, ["-m", "one-d", "--id", "id", "--keep", "town"])
    found = []
    for owner in OWNERS:
        release_joint(tables / f"{owner}.csv", tables / f"{owner}.out.csv", key, tables / "joint", owner=owner)
        found += (tables / f"{owner}.out.csv").read_text().splitlines()[1:]
    assert sorted(found) == sorted((tables / "expected.csv").read_text().splitlines()[1:])
    assert found != (tables / "expected.csv").read_text().splitlines()[1:]
    # the miner's labels find their way back to the second owner's rows, whose numbers do not begin at 0
    shuffled = pl.read_csv(tables / "shop.out.csv", infer_schema=False)
    shuffled.select(label=pl.col("town")).write_csv(tables / "labels.csv")
    receipt = next(tables.glob("shop.out.csv.*.receipt"))
    command(
        "join",
        tables / "labels.csv",
        tables / "shop.csv",
        "-o",
        tables / "back.csv",
        "--key",
        key,
        "--receipt",
        receipt,
    )
    back = pl.read_csv(tables / "back.csv", infer_schema=False)
    assert back["label"].to_list() == back["town"].to_list()


def test_an_owner_is_told_of_earlier_releases_of_its_own_people(tables: Path, tmp_path_factory) -> None:
    key, elsewhere = tables / "shared.key", tmp_path_factory.mktemp("elsewhere")
    options = {"identifier": ["id"], "keep": ["town"], "method": "adp"}
    sf.release(tables / "shop.csv", elsewhere / "out.csv", key=elsewhere / "k", **options)
    together(tables, ["-m", "one-d", "--id", "id", "--keep", "town"])
    release_joint(tables / "bank.csv", tables / "bank.out.csv", key, tables / "joint", owner="bank")
    with pytest.raises(RepeatedReleaseError, match="51 of 51 people of this table"):
        release_joint(
            tables / "shop.csv",
            tables / "shop.out.csv",
            key,
            tables / "joint",
            owner="shop",
            repeated="error",
            history=[elsewhere],
        )
    assert not (tables / "shop.out.csv").exists()
    pl.read_csv(tables / "bank.csv", infer_schema=False).slice(1).write_csv(tables / "fewer.csv")
    with pytest.raises(RepeatedReleaseError, match="249 of 249 people of this table"):
        sf.release(tables / "fewer.csv", tables / "out.csv", key=key, repeated="error", **options)


def test_what_owners_exchange_is_sealed_and_holds_no_original(tables: Path) -> None:
    together(tables, ["-m", "ina", "--id", "id", "--keep", "town"])
    raw = b"".join((tables / name).read_bytes() for name in ("bank.sum", "joint"))
    assert raw.startswith(b"sfumato-shared-1 summary ")
    for word in (b"wage", b"bank", b"policy", b"P00001", b"town"):
        assert word not in raw
    other = tables / "other.key"
    command("key", "new", other)
    with pytest.raises(ReceiptError, match="another key"):
        merge([tables / "bank.sum", tables / "shop.sum"], tables / "x", other)
    damaged = bytearray((tables / "bank.sum").read_bytes())
    damaged[-1] ^= 1
    (tables / "bank.sum").write_bytes(damaged)
    with pytest.raises(ReceiptError, match="damaged"):
        merge([tables / "bank.sum", tables / "shop.sum"], tables / "x", tables / "shared.key")


def test_mistakes_between_owners_are_told(tables: Path) -> None:
    key = tables / "shared.key"
    roles = {"identifier": ["id"], "keep": ["town"]}
    for method in ("rdp", "tdp", "sdp", "hdp"):
        with pytest.raises(ParameterError, match="can be undone with the key"):
            summarize(tables / "bank.csv", tables / "s", key=key, owner="bank", method=method, **roles)
    with pytest.raises(ParameterError, match="belong to other owners"):
        summarize(tables / "bank.csv", tables / "s", key=key, owner="bank", method="mdav", **roles)
    with pytest.warns(SharedKeyWarning, match="subtract"):
        summarize(tables / "bank.csv", tables / "noise", key=key, owner="bank", method="adp", **roles)
    for owner in ("bank", "shop"):
        summarize(tables / f"{owner}.csv", tables / owner, key=key, owner=owner, method="one-d", **roles)
    with pytest.raises(ParameterError, match="another policy"):
        merge([tables / "noise", tables / "shop"], tables / "joint", key)
    with pytest.raises(ParameterError, match="two different owners"):
        merge([tables / "bank", tables / "bank"], tables / "joint", key)
    assert not merge([tables / "bank", tables / "shop"], tables / "joint", key).ready
    with pytest.raises(ParameterError, match="not finished"):
        release_joint(tables / "bank.csv", tables / "out.csv", key, tables / "joint", owner="bank")
    assert not (tables / "out.csv").exists()
    with pytest.raises(ParameterError, match="not among the owners"):
        summarize(tables / "tram.csv", tables / "t", key=key, owner="tram", joint=tables / "joint")
