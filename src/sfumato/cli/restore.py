"""`sfumato restore`: undo an invertible release."""

from __future__ import annotations

import json
from pathlib import Path

import click

from sfumato.cli.progress import Progress
from sfumato.cli.words import as_typed
from sfumato.pipeline.restore import restore as run_restore


@click.command()
@click.argument("released", type=click.Path(path_type=Path))
@click.option("-o", "--output", "out", required=True, type=click.Path(path_type=Path), help="The file to write.")
@click.option("--key", required=True, type=click.Path(path_type=Path), help="The key of the release.")
@click.option("--receipt", type=click.Path(path_type=Path), help="The receipt of the release. [default: with the key]")
@click.option("--force", is_flag=True, help="Replace OUT if it exists.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def restore(released: Path, out: Path, key: Path, receipt: Path | None, force: bool, as_json: bool) -> None:
    """Undo RELEASED, a release with an invertible method, into OUT: in the old order, without dropped columns."""
    with Progress() as progress:
        done = run_restore(released, out, key, receipt=receipt, force=force, progress=progress)
    if as_json:
        told = {
            "schema": "sfumato-restore-1",
            "target": str(done.target),
            "rows": done.n_rows,
            "columns": list(done.columns),
            "largest_errors": dict(done.errors),
            "notes": list(done.notes),
        }
        click.echo(json.dumps(told, indent=2))
        return
    worst = max(done.errors, key=lambda name: done.errors[name])
    click.echo(f"restored {done.n_rows:,} rows to {done.target}: {', '.join(done.columns)}")
    if done.errors[worst] == 0.0:
        click.echo("largest error: 0 (every restored value is exact)")
    else:
        click.echo(f"largest error: {done.errors[worst]:.6g} in column {worst}, from the rounding of the release")
    for note in done.notes:
        click.echo(as_typed(f"note: {note}"))
    click.echo("it holds original values: keep it to yourself")
