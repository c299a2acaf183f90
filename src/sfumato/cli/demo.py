"""`sfumato demo`: a release of the table that ships with sfumato, its audit, and every method on it."""

from __future__ import annotations

import warnings
from pathlib import Path

import click

from sfumato.cli.progress import Progress
from sfumato.cli.release import three_lines
from sfumato.cli.tour import FLAGS, Line, release_demo, rows_before_and_after, tour
from sfumato.cli.words import shown_command
from sfumato.core.keys import Key
from sfumato.datasets import demo_table, write_demo
from sfumato.exceptions import SfumatoWarning
from sfumato.files.storage.workspace import check_target

_HEAD = f"{'method':26} {'rows in another':>16} {'weakest column':>15} {'rows':>10}  undone by\n"
_HEAD += f"{'':26} {'cluster (less':>16} {'hidden (more':>15} {'unchanged':>10}\n"
_HEAD += f"{'':26} {'is better)':>16} {'is better)':>15} {'':>10}"


@click.command()
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("demo-output"),
    show_default=True,
    help="Folder for the results.",
)
@click.option(
    "--table", type=click.Path(dir_okay=False, path_type=Path), help="Only write the demo table to this file."
)
@click.option("--numbers", is_flag=True, help="With --table: without texts, codes and dates, but for the branch.")
def demo(output: Path, table: Path | None, numbers: bool) -> None:
    """Release the demo table, attack the release, and show what each method keeps and hides on its numbers."""
    if table is not None:
        check_target(table, force=False)
        click.echo(f"wrote {write_demo(table, mixed=not numbers)}: 3,000 customers of a bank that does not exist")
        return
    private = output / "private"
    private.mkdir(parents=True, exist_ok=True, mode=0o700)
    table = write_demo(output / "customers.csv")
    key_path = private / "demo.key"
    click.echo(f"the table: {table}, 3,000 customers of a bank that does not exist\n")
    click.echo(f"$ sfumato release {table} -o {output / 'released.csv'} {' '.join(FLAGS)} --key {key_path}")
    with Progress() as progress, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", SfumatoWarning)
        done, found = release_demo(table, output / "released.csv", key_path, progress)
    click.echo(three_lines(done))
    click.echo(f"\n{rows_before_and_after(table, done)}\n")
    for warning in told:
        click.echo(f"warning: {warning.message}")
    found.to_html(private / "audit.html")
    click.echo(f"grade {found.grade}: {found.verdict}")
    if found.utility is not None and found.utility.excess_mean is not None:
        click.echo(
            f"{found.utility.excess_mean:.2%} of the rows change their cluster (less is better), beyond what a "
            "re-run on the original changes"
        )
    click.echo(f"the audit, for the owner: {private / 'audit.html'}\n")
    click.echo(f"every method on the {len(demo_table()):,} complete rows of the same table, on its numbers:\n{_HEAD}")
    tour(Key.load(key_path), lambda line: click.echo(format_line(line)))
    click.echo(
        "\nWhat breaks a method is measured, not proved away: 'none known' is not 'safe'. See docs/limitations.md."
    )
    click.echo(_next(output, table))


def _next(output: Path, table: Path) -> str:
    """Return what to look at next."""
    lines = {
        f"{output / 'released.csv'}": "the release: open it beside customers.csv",
        f"{output / 'private' / 'audit.html'}": "how it was attacked, for the owner alone",
        f"{shown_command()} release {table} -o OUT --guess": "the same for a table: what becomes of every column",
        f"{shown_command()} --help": "all commands; docs/guide/tour.md takes five minutes",
    }
    width = max(len(place) for place in lines)
    return "\n".join(["\nLook at next:", *(f"  {place:{width}}  {about}" for place, about in lines.items())])


def format_line(line: Line) -> str:
    """Return one line of the table."""
    name = f"{line.name} [{line.id}]"
    return f"{name:26} {line.misclassified:16.2%} {line.security:15.2f} {line.unchanged:10.2%}  {line.breaks}"
