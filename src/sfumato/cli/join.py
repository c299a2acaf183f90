"""`sfumato join`: the miner's labels, back at the original rows."""

from __future__ import annotations

import json
from pathlib import Path

import click

from sfumato.cli.csv_options import csv_options
from sfumato.cli.progress import Progress
from sfumato.cli.words import as_typed
from sfumato.pipeline.join import join as run_join


@click.command()
@click.argument("labels", type=click.Path(path_type=Path))
@click.argument("original", type=click.Path(path_type=Path))
@click.option("-o", "--output", "out", required=True, type=click.Path(path_type=Path), help="The file to write.")
@click.option("--key", required=True, type=click.Path(path_type=Path), help="The key of the release.")
@click.option("--receipt", type=click.Path(path_type=Path), help="The receipt of the release. [default: with the key]")
@click.option("--released", type=click.Path(path_type=Path), help="The released file: checks that all belong together.")
@csv_options("original")
@click.option("--force", is_flag=True, help="Replace OUT if it exists.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def join(
    labels: Path,
    original: Path,
    out: Path,
    key: Path,
    receipt: Path | None,
    released: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Put LABELS, one for each row of the release, beside the rows of ORIGINAL they belong to."""
    with Progress() as progress:
        done = run_join(labels, original, out, key, receipt=receipt, released=released, force=force, progress=progress)
    if as_json:
        told = {
            "schema": "sfumato-join-1",
            "target": str(done.target),
            "rows": done.n_rows,
            "labels": list(done.labels),
            "notes": list(done.notes),
        }
        click.echo(json.dumps(told, indent=2))
        return
    click.echo(f"joined {', '.join(done.labels)} to {done.n_rows:,} original rows in {done.target}")
    for note in done.notes:
        click.echo(as_typed(f"note: {note}"))
    click.echo("it holds original values: keep it to yourself")
