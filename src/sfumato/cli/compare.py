"""`sfumato compare`: every method side by side on a table."""

from __future__ import annotations

from pathlib import Path

import click

from sfumato.cli.csv_options import csv_options
from sfumato.cli.progress import Progress
from sfumato.cli.words import cluster_numbers, command_line
from sfumato.files.storage.outputs import check_outputs, inputs


@click.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.option("-m", "--method", "methods", multiple=True, help="Compare only this method; may be repeated.")
@click.option("--id", "identifier", multiple=True, metavar="COL", help="A column that a release drops.")
@click.option("--keep", multiple=True, metavar="COL", help="A column that a release leaves as it is.")
@click.option(
    "--policy",
    type=click.Path(path_type=Path),
    help="A policy file (TOML) with the columns and limits; flags override it.",
)
@csv_options("data")
@click.option("--force", is_flag=True, help="Replace the report if it exists.")
@click.option("--report", type=click.Path(path_type=Path), help="Write the page with the trade-off chart to this file.")
@click.option("--budget", help="Most time, as 90s or 10m; the result depends on the machine then.")
@click.option("--clusters", default="2-8", show_default=True, help="Numbers of clusters that matter, as 2-8 or 3,5.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Repeats the comparison.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def compare(
    data: Path,
    methods: tuple[str, ...],
    identifier: tuple[str, ...],
    keep: tuple[str, ...],
    policy: Path | None,
    report: Path | None,
    force: bool,
    budget: str | None,
    clusters: str,
    seed: int,
    as_json: bool,
) -> None:
    """Release DATA with every method, in memory, attack each release, and say what it hides and what it costs."""
    from sfumato.tuning.compare import compare as run_compare

    check_outputs({"the report": report}, inputs(data, policy), force=force)
    numbers = cluster_numbers(clusters)
    found = run_compare(
        data,
        methods or None,
        identifier=identifier,
        keep=keep,
        policy=policy,
        clusters=numbers,
        budget=budget,
        seed=seed,
        progress=Progress(),
    )
    if report is not None:
        found.to_html(report, command=command_line())
    click.echo(found.to_json() if as_json else found.to_text(), nl=False)
    if report is not None and not as_json:
        click.echo(f"report: {report}  (it says how releases are broken: keep it to yourself)")
