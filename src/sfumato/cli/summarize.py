"""`sfumato summarize`: one owner's part of a release of several."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from sfumato.cli.csv_options import csv_options
from sfumato.cli.release import parse_settings, show_warnings
from sfumato.pipeline.collaborate import summarize as run_summarize


@click.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.option("-o", "--output", "out", required=True, type=click.Path(path_type=Path), help="The summary to write.")
@click.option("--key", required=True, type=click.Path(path_type=Path), help="The key that the owners share.")
@click.option("--owner", required=True, metavar="NAME", help="Your name, the same in every pass.")
@click.option("--joint", type=click.Path(path_type=Path), help="What the last merge wrote; not for the first pass.")
@click.option("--policy", type=click.Path(path_type=Path), help="The policy that the owners agreed on (first pass).")
@click.option("-m", "--method", "method_name", help="Id of the method (first pass).")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A parameter of the method (first pass).")
@click.option("--id", "identifier", multiple=True, metavar="COL", help="Drop this column (first pass).")
@click.option("--keep", multiple=True, metavar="COL", help="Release this column unchanged (first pass).")
@csv_options("data")
@click.option("--force", is_flag=True, help="Replace the summary if it exists.")
def summarize(
    data: Path,
    out: Path,
    key: Path,
    owner: str,
    joint: Path | None,
    policy: Path | None,
    method_name: str | None,
    settings: tuple[str, ...],
    identifier: tuple[str, ...],
    keep: tuple[str, ...],
    force: bool,
) -> None:
    """Write a summary of your rows for the next pass of a release of several owners.

    Summaries hold ranges, counts and sums, and for some methods rows: docs/collaboration.md says what yours reveals.
    They are sealed under the shared key.
    """
    options: dict[str, Any] = {
        "method": method_name,
        "parameters": parse_settings(settings),
        "identifier": identifier,
        "keep": keep,
    }
    with show_warnings():
        number = run_summarize(data, out, policy, key, owner=owner, joint=joint, force=force, **options)
    click.echo(f"pass {number}: summary of {data} in {out}; give it to who merges")
