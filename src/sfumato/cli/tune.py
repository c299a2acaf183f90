"""`sfumato tune`: search methods and parameters for the best release within limits."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from sfumato.cli.csv_options import csv_options
from sfumato.cli.exit_codes import Exit
from sfumato.cli.progress import Progress
from sfumato.cli.words import EFFORTS, cluster_numbers, command_line
from sfumato.files.storage.outputs import check_outputs, inputs


@click.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.option(
    "--max-misclassification",
    type=click.FloatRange(0.0, 1.0, max_open=True),
    metavar="X",
    help="Most rows in another cluster, as a share: 0.01 is 1 %.  [default: that of the policy, or 0.01]",
)
@click.option("--min-grade", type=click.Choice(["A", "B", "C", "D", "F"]), help="Worst grade that will do.")
@click.option(
    "--effort", type=click.Choice(EFFORTS), default="normal", show_default=True, help="How many settings to look at."
)
@click.option("--budget", help="Time for the search, as 60s or 5m; the result depends on the machine then.")
@click.option("--candidates", type=click.IntRange(min=1), help="Settings to look at first, instead of the effort's.")
@click.option("-m", "--method", "methods", multiple=True, help="Search only this method; may be repeated.")
@click.option("--id", "identifier", multiple=True, metavar="COL", help="A column that the release drops.")
@click.option("--keep", multiple=True, metavar="COL", help="A column that the release leaves as it is.")
@click.option(
    "--policy",
    type=click.Path(path_type=Path),
    help="A policy file (TOML) with the columns and limits; flags override it.",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write the policy of the winner to this file.")
@csv_options("data")
@click.option("--report", type=click.Path(path_type=Path), help="Write the page with the trade-off chart to this file.")
@click.option("--clusters", default="2-8", show_default=True, help="Numbers of clusters that matter, as 2-8 or 3,5.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Repeats the search.")
@click.option(
    "--dial/--no-dial", default=True, show_default=True, help="Show what coarse, medium and fine detail hide and keep."
)
@click.option("--force", is_flag=True, help="Replace the policy and the report if they exist.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def tune(
    data: Path,
    max_misclassification: float | None,
    min_grade: str | None,
    effort: str,
    budget: str | None,
    candidates: int | None,
    methods: tuple[str, ...],
    identifier: tuple[str, ...],
    keep: tuple[str, ...],
    policy: Path | None,
    output: Path | None,
    report: Path | None,
    clusters: str,
    seed: int,
    dial: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Search for the method and the parameters that hide most of DATA while the clusters stay.

    The winner is repeated with keys that the search never saw. Exit code 1 means that nothing meets the limits; no
    policy is written then.
    """
    from sfumato.tuning.tune import tune as run_tune

    check_outputs({"the policy": output, "the report": report}, inputs(data, policy), force=force)
    numbers = cluster_numbers(clusters)
    found = run_tune(
        data,
        max_misclassification,
        min_grade=min_grade,
        methods=methods or None,
        identifier=identifier,
        keep=keep,
        policy=policy,
        clusters=numbers,
        effort=effort,
        budget=budget,
        candidates=candidates,
        seed=seed,
        dial=dial,
        progress=Progress(),
    )
    if report is not None:
        found.to_html(report, command=command_line())
    if output is not None and found.met:
        found.save_policy(output)
    click.echo(found.to_json() if as_json else found.to_text(), nl=False)
    if not as_json:
        if output is not None and found.met:
            click.echo(f"policy: {output}")
        if report is not None:
            click.echo(f"report: {report}  (it names the method and its parameters: keep it to yourself)")
    if not found.met:
        sys.exit(Exit.LIMIT)
