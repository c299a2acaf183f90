"""`sfumato demo`: every method on the table that ships with sfumato, and one release of it."""

from __future__ import annotations

import warnings
from pathlib import Path

import click

from sfumato.core.keys import Key
from sfumato.demo.tour import CONFIDENTIAL, DEMO_METHOD, Line, demo_table, release_demo, tour
from sfumato.exceptions import SfumatoWarning

__all__ = ["demo"]

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
def demo(output: Path) -> None:
    """Release the demo table, and show what each method keeps and hides on it."""
    table = demo_table()
    click.echo(f"3,000 customers of a bank that does not exist; {len(table):,} complete rows are used here.")
    click.echo(f"dropped: customer_id   kept as it is: branch   perturbed: {', '.join(CONFIDENTIAL)}\n")
    private = output / "private"
    private.mkdir(parents=True, exist_ok=True, mode=0o700)
    key_path = private / "demo.key"
    if key_path.exists():
        key = Key.load(key_path)
    else:
        key = Key.generate()
        key.save(key_path)
    click.echo(_HEAD)
    tour(key, lambda line: click.echo(format_line(line)))
    click.echo(f"\nreleasing with [{DEMO_METHOD}], and attacking the release ...")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", SfumatoWarning)
        found = release_demo(key, output / "released.csv")
    for warning in told:
        click.echo(f"note: {warning.message}")
    found.to_html(output / "private" / "audit.html")
    click.echo(f"grade {found.grade}: {found.verdict}")
    click.echo(f"\n{found.n_rows:,} rows released: {output / 'released.csv'}")
    click.echo(f"the audit, for the owner: {output / 'private' / 'audit.html'}")
    click.echo(f"the key, which only you keep: {key_path}")
    click.echo(
        "What breaks a method is measured, not proved away: 'none known' is not 'safe'. See docs/limitations.md."
    )


def format_line(line: Line) -> str:
    """Return one line of the table."""
    name = f"{line.name} [{line.id}]"
    return f"{name:26} {line.misclassified:16.2%} {line.security:15.2f} {line.unchanged:10.2%}  {line.breaks}"
