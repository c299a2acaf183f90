"""`sfumato audit`: attack a released file, and say what an attacker gets."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from sfumato.auditing.run import audit as run_audit
from sfumato.cli.progress import Progress
from sfumato.exceptions import DataError
from sfumato.perturb.catalogue import method as find_method
from sfumato.table.csv import read_csv

__all__ = ["audit"]

_UNTRUSTED = 4


@click.command()
@click.argument("original", type=click.Path(path_type=Path))
@click.argument("released", type=click.Path(path_type=Path))
@click.option("-m", "--method", help="Public id of the method (see `sfumato methods`): attackers can read it too.")
@click.option("--known-rows", type=click.IntRange(min=1), help="How many people the attacker knows.")
@click.option("--attack", "attacks", multiple=True, help="Run only this attack; may be repeated.")
@click.option(
    "--report", type=click.Path(path_type=Path), help="Write the full report (for the owner) to this HTML file."
)
@click.option("--json", "as_json", is_flag=True, help="Print the audit as one JSON object.")
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Chooses known people and targets."
)
def audit(
    original: Path,
    released: Path,
    method: str | None,
    known_rows: int | None,
    attacks: tuple[str, ...],
    report: Path | None,
    as_json: bool,
    seed: int,
) -> None:
    """Attack RELEASED the way an adversary would, knowing the ORIGINAL only to keep the score.

    Both are CSV files with the same people in the same order. Exit code 4 means that a canary failed and the audit
    cannot be trusted.
    """
    if method is not None:
        method = find_method(method).id
    if report is not None and (report.is_dir() or not report.absolute().parent.is_dir()):
        raise DataError(f"{report}: cannot be written there", hint="name a file in a folder that exists")
    found = run_audit(
        read_csv(original),
        read_csv(released),
        method=method,
        known_rows=known_rows,
        attacks=attacks or None,
        seed=seed,
        progress=Progress(),
    )
    if report is not None:
        found.to_html(report)
    click.echo(found.to_json() if as_json else found.to_text(), nl=False)
    if report is not None and not as_json:
        click.echo(f"report: {report}  (it says how to break the release: keep it to yourself)")
    if not found.trustworthy:
        sys.exit(_UNTRUSTED)
