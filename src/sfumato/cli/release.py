"""`sfumato release`: one command from a file to a protected file, a key and a receipt."""

from __future__ import annotations

import json
import tomllib
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from sfumato.cli.columns import columns_table, confirmed_policy, look_at_columns, policy_place
from sfumato.cli.csv_options import csv_options
from sfumato.cli.progress import Progress
from sfumato.exceptions import SfumatoWarning
from sfumato.files.opening import is_postgres
from sfumato.perturb.catalogue import DEFAULT_METHOD, method
from sfumato.pipeline.release import EngineMaker
from sfumato.pipeline.release import release as run_release
from sfumato.policy.guesses import Guess
from sfumato.policy.model import Policy, Role
from sfumato.policy.reading import parse_policy
from sfumato.receipts.shown import Receipt


@click.command()
@click.argument("data", type=click.Path())
@click.option("-o", "--output", "out", required=True, type=click.Path(), help="The file to write.")
@click.option(
    "-m", "--method", "method_name", help=f"Id of the method (see `sfumato methods`). [default: {DEFAULT_METHOD}]"
)
@click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE", help="A parameter of the method; may be repeated."
)
@click.option(
    "--detail",
    type=click.Choice(["coarse", "medium", "fine"]),
    help="How much of the clusters is kept, against how much is hidden. [default: medium]",
)
@click.option(
    "--clustering",
    "clusterings",
    multiple=True,
    metavar="NAME",
    help="Keep this clustering besides the ladder, as 'ward 5' or 'gaussian mixture 4'; may be repeated.",
)
@click.option(
    "--scale",
    type=click.Choice(["std", "range"]),
    help="Release columns already scaled, with the public scale in OUT.scale.json.",
)
@click.option("--id", "identifier", multiple=True, metavar="COL", help="Drop this column; may be repeated.")
@click.option("--keep", multiple=True, metavar="COL", help="Release this column unchanged; may be repeated.")
@click.option("--record-id", metavar="COL", help="The column that names a person: one noise for all rows of a person.")
@click.option("--policy", type=click.Path(path_type=Path), help="A policy file (TOML); flags override it.")
@click.option("--key", type=click.Path(path_type=Path), help="Key file to use; a new one is made if there is none.")
@click.option(
    "--receipt", type=click.Path(path_type=Path), help="Where the sealed receipt goes. [default: with the key]"
)
@csv_options("data")
@click.option("--name", help="Name of the release, mixed into the noise. [default: r0]")
@click.option("--report", type=click.Path(path_type=Path), help="Audit the release and write the report to this file.")
@click.option(
    "--repeated",
    type=click.Choice(["warn", "error"]),
    help="What to do if people of DATA were released before with other noise. [default: warn]",
)
@click.option(
    "--history",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Look for earlier releases with the keys of this folder, too; may be repeated.",
)
@click.option(
    "--as-of",
    type=click.Path(path_type=Path),
    metavar="RECEIPT",
    help="Update the release of this receipt: unchanged rows keep their noise (with --record-id).",
)
@click.option("--no-shuffle", is_flag=True, help="Leave the rows in their order (which tells who is who).")
@click.option("--with-row-id", is_flag=True, help="Add a random row id, so that a miner may filter or reorder rows.")
@click.option(
    "--engine", type=click.Choice(["local", "spark"]), default="local", show_default=True, help="Who computes."
)
@click.option("--query", help="The rows to release, if DATA is the address of a PostgreSQL database.")
@click.option("--table", help="The table to make, if OUT is the address of a PostgreSQL database.")
@click.option("--joint", type=click.Path(path_type=Path), help="Of several owners: what the last merge wrote.")
@click.option("--owner", metavar="NAME", help="Of several owners: your name.")
@click.option("--dry-run", is_flag=True, help="Check, measure and show everything, and write nothing.")
@click.option(
    "--guess",
    is_flag=True,
    help="Guess what becomes of every column, show it, ask once, and write it as a policy. [default: beside DATA]",
)
@click.option("--yes", is_flag=True, help="With --guess: do not ask.")
@click.option("--force", is_flag=True, help="Replace OUT, the report and the receipt if they exist.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def release(
    data: str,
    out: str,
    method_name: str | None,
    settings: tuple[str, ...],
    detail: str | None,
    clusterings: tuple[str, ...],
    scale: str | None,
    identifier: tuple[str, ...],
    keep: tuple[str, ...],
    record_id: str | None,
    policy: Path | None,
    key: Path | None,
    receipt: Path | None,
    name: str | None,
    report: Path | None,
    repeated: str | None,
    history: tuple[Path, ...],
    as_of: Path | None,
    no_shuffle: bool,
    with_row_id: bool,
    engine: str,
    query: str | None,
    table: str | None,
    joint: Path | None,
    owner: str | None,
    dry_run: bool,
    guess: bool,
    yes: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Release DATA as OUT: perturbed, shuffled, and with a key that only you keep.

    DATA is a CSV (gzip too), Parquet or Arrow file, a folder of Parquet files, or the address of a PostgreSQL database
    (with --query); the ending of OUT says what it becomes. Every column of numbers that you neither drop nor keep is
    perturbed; texts, flags and dates are exchanged between people who share them, and what names people must be dropped
    (--id) or kept (--keep). All problems of a table are told at once; --guess writes a policy to begin with, and
    --dry-run shows what would happen.
    """
    if joint is not None:
        if as_of is not None or dry_run or guess or with_row_id:
            raise click.UsageError("--as-of, --dry-run, --guess and row ids are not for releases of several owners")
        _release_joint(data, out, key, joint, owner, repeated, history, force=force)
        return
    maker: EngineMaker | None = None
    if engine == "spark":
        from sfumato.spark.files import spark_engine  # loads pyspark

        maker = spark_engine
    settled: Policy | Path | None = policy
    if guess:
        settled = _guessed(data, out, policy, identifier, keep, yes=yes, write=not dry_run, force=force, err=as_json)
    with Progress() as progress, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", SfumatoWarning)
        done = run_release(
            data,
            out,
            settled,
            key,
            method=method_name,
            parameters=parse_settings(settings),
            detail=detail,
            clusterings=("ladder", *clusterings) if clusterings else None,
            scale=scale,
            identifier=identifier,
            keep=keep,
            record_id=record_id,
            name=name,
            shuffle=False if no_shuffle else None,
            row_id=True if with_row_id else None,
            repeated=repeated,
            history=history,
            as_of=as_of,
            receipt=receipt,
            report=report,
            force=force,
            progress=progress,
            engine=maker,
            query=query,
            table_name=table,
            dry_run=dry_run,
        )
    if as_json:
        click.echo(json.dumps({**done.to_data(), **({"dry_run": True} if dry_run else {})}, indent=2))
    else:
        click.echo(dry_lines(done, data) if dry_run else three_lines(done))
        warned = {str(warning.message) for warning in told}
        for note in done.notes:
            if note not in warned:
                click.echo(f"note: {note}")
        if done.audit is not None:
            click.echo(f"grade {done.audit.grade}: {done.audit.verdict}")
        if report is not None and not dry_run:
            click.echo(f"report: {report}  (it says how to break the release: keep it to yourself)")
    for warning in told:
        click.echo(f"warning: {warning.message}", err=True)


def _guessed(
    data: str, out: str, policy: Path | None, identifier: tuple[str, ...], keep: tuple[str, ...], **how: bool
) -> Policy:
    """Return a policy that was guessed and confirmed."""
    if is_postgres(data):
        raise click.UsageError("--guess looks at files: write a policy for the rows of a database")
    place = policy_place(data, policy)
    if Path(out).absolute() == place.absolute():
        raise click.UsageError("the policy and the release would be one file: name another with --policy")
    return parse_policy(confirmed_policy(data, place, identifier, keep, **how), str(place))


def _release_joint(
    data: str,
    out: str,
    key: Path | None,
    joint: Path,
    owner: str | None,
    repeated: str | None,
    history: tuple[Path, ...],
    *,
    force: bool,
) -> None:
    """Release one owner's part; everything else was settled in the first pass."""
    from sfumato.pipeline.collaborate import release_joint

    if key is None or owner is None:
        raise click.UsageError("--joint goes with --key and --owner")
    with show_warnings():
        plan, tally = release_joint(data, out, key, joint, owner=owner, repeated=repeated, history=history, force=force)
    row = method(plan.keyed.method)
    click.echo(f"released {tally.rows:,} rows of {owner} to {out}: {_listed(plan.roles.confidential)} by {row.name}")
    click.echo("the rows of all owners together are the release of their joint table; hand out the file alone")


@contextmanager
def show_warnings() -> Iterator[None]:
    """Say warnings at the end, in one line each."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", SfumatoWarning)
        yield
    for warning in told:
        click.echo(f"warning: {warning.message}", err=True)


def parse_settings(settings: tuple[str, ...]) -> dict[str, Any]:
    """Return NAME=VALUE settings; values are read as TOML, and as text if they are not.

    Examples
    --------
    >>> parse_settings(("beta=5", "alpha=std"))
    {'beta': 5, 'alpha': 'std'}
    """
    out: dict[str, Any] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals or not name.strip():
            raise click.UsageError(f"--set takes NAME=VALUE, got {setting!r}")
        try:
            out[name.strip()] = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            out[name.strip()] = text
    return out


def three_lines(done: Receipt) -> str:
    """Return what a release did, what it dropped, and what its owner must know."""
    row = method(done.method)
    kept = f", {_listed(done.kept)} kept as {'it is' if len(done.kept) == 1 else 'they are'}" if done.kept else ""
    order = "rows shuffled by the key" if done.shuffled else "rows in their old order"
    did = (
        f"released {done.n_rows:,} rows to {done.target}: {_listed(done.perturbed)} perturbed by {row.name} [{row.id}]"
    )
    dropped = f"dropped: {_listed(done.dropped) if done.dropped else 'no column'}"
    if done.missing:
        dropped += f"; {done.missing:,} missing cells stay missing"
    if done.neutralised:
        dropped += f"; {done.neutralised:,} text cells that began like a formula got an apostrophe"
    if done.broken:
        dropped += (
            f"; {done.broken:,} kept text cells hold a line break or a separator: look at some, "
            "a misread file hides whole records there"
        )
    know = (
        f"keep to yourself: the key {done.key_path} and its receipt {done.receipt_path}; hand out {done.target} alone"
    )
    return f"{did}{kept}, {order}\n{dropped}\n{know}"


def dry_lines(done: Receipt, data: str) -> str:
    """Return what a release would do, with what becomes of every column.

    Parameters
    ----------
    data : str
        The table; what its columns seem to hold is told for files.
    """
    did, dropped, _ = three_lines(done).split("\n")
    roles: dict[str, Role] = {
        **dict.fromkeys(done.dropped, "identifier"),
        **dict.fromkeys(done.kept, "keep"),
        **dict.fromkeys(done.perturbed, "confidential"),
    }
    if is_postgres(data):
        columns = [Guess(name, role, "") for name, role in roles.items()]
    else:
        columns = [Guess(one.name, roles[one.name], one.reason) for one in look_at_columns(data)]
    told = ["dry run: nothing was written", did.replace("released", "would release", 1), dropped]
    return "\n".join([*told, columns_table(columns)])


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names) if len(names) <= 8 else f"{', '.join(names[:8])} and {len(names) - 8} more"
