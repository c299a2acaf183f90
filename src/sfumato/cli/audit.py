"""`sfumato audit`: attack a released file, and say what an attacker gets."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from sfumato.auditing.model import Audit
from sfumato.auditing.run import audit as run_audit
from sfumato.cli.csv_options import csv_options
from sfumato.cli.exit_codes import Exit
from sfumato.cli.progress import Progress
from sfumato.cli.words import EFFORTS, command_line
from sfumato.files.entire import read_table
from sfumato.files.opening import open_released, open_source
from sfumato.files.storage.outputs import check_outputs, inputs
from sfumato.perturb.catalogue import method as find_method
from sfumato.pipeline.audited import audit_files, check_limits
from sfumato.pipeline.belonging import require_original
from sfumato.pipeline.engines.engine import Watch
from sfumato.policy.reading import read_policy
from sfumato.receipts.finding import receipt_of_file
from sfumato.receipts.released_rows import is_released_file

_SHADOWS = 64


@click.command()
@click.argument("original", type=click.Path(path_type=Path))
@click.argument("released", type=click.Path(path_type=Path))
@click.option("--key", type=click.Path(path_type=Path), help="The key of the release: brings shuffled rows into order.")
@click.option("--receipt", type=click.Path(path_type=Path), help="The receipt of the release. [default: with the key]")
@click.option(
    "--policy", type=click.Path(path_type=Path), help="Check the limits of this policy: exit code 1 if not met."
)
@click.option("-m", "--method", help="Public id of the method (see `sfumato methods`): attackers can read it too.")
@csv_options("original", "released")
@click.option("--known-rows", type=click.IntRange(min=1), help="How many people the attacker knows.")
@click.option("--columns", multiple=True, metavar="COL", help="Audit only this column; may be repeated.")
@click.option("--id", "identifier", multiple=True, metavar="COL", help="Leave this column out; may be repeated.")
@click.option("--keep", multiple=True, metavar="COL", help="This column was meant to stay as it is; may be repeated.")
@click.option("--attack", "attacks", multiple=True, help="Run only this attack; may be repeated.")
@click.option(
    "--effort", type=click.Choice(EFFORTS), help="How hard attacks and utility try. [default: normal, or the policy's]"
)
@click.option(
    "--membership", is_flag=True, help="Make shadow releases, too: who is in the table? Takes as long as 84 releases."
)
@click.option(
    "--report", type=click.Path(path_type=Path), help="Write the full report (for the owner) to this HTML file."
)
@click.option(
    "--public-summary", type=click.Path(path_type=Path), help="Write a summary that may be published to this HTML file."
)
@click.option("--force", is_flag=True, help="Replace the report and the summary if they exist.")
@click.option("--json", "as_json", is_flag=True, help="Print the audit as one JSON object.")
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Chooses known people and targets."
)
def audit(
    original: Path,
    released: Path,
    key: Path | None,
    receipt: Path | None,
    policy: Path | None,
    method: str | None,
    known_rows: int | None,
    columns: tuple[str, ...],
    identifier: tuple[str, ...],
    keep: tuple[str, ...],
    attacks: tuple[str, ...],
    effort: str | None,
    membership: bool,
    report: Path | None,
    public_summary: Path | None,
    force: bool,
    as_json: bool,
    seed: int,
) -> None:
    """Attack RELEASED the way an adversary would, knowing the ORIGINAL only to keep the score.

    Both are files with the same people: in the same order, or shuffled by the key of the release (--key). Exit code 1
    means that a limit of the policy is not met, 4 that a canary failed and the audit cannot be trusted.
    """
    limits = None if policy is None else read_policy(policy).audit
    if method is not None:
        method = find_method(method).id
    check_outputs(
        {"the report": report, "the public summary": public_summary},
        inputs(original, released, key, receipt, policy),
        force=force,
    )
    if known_rows is None and limits is not None:
        known_rows = limits.known_rows
    if effort is None:
        effort = "normal" if limits is None else limits.effort
    with Progress() as progress:
        options: dict[str, Any] = {
            "known_rows": known_rows,
            "columns": columns or None,
            "leave_out": identifier,
            "attacks": attacks or None,
            "effort": effort,
            "seed": seed,
            "progress": progress,
        }
        if method is not None:
            options["method"] = find_method(method).load()() if membership else method
        if membership:
            options["shadows"] = _SHADOWS
        if key is None and receipt is None:
            if membership and method is None:
                raise click.UsageError("--membership tries the method out: say which with --method, or give --key")
            found = run_audit(read_table(original), read_table(released), kept=keep, **options)
        else:
            if keep:
                raise click.UsageError("the receipt says which columns were kept: leave --keep out, or --key")
            found = _audit_with_key(original, released, key, receipt, options)
    if report is not None:
        found.to_html(report, command=command_line())
    if public_summary is not None:
        found.to_html(public_summary, public=True)
    click.echo(found.to_json() if as_json else found.to_text(), nl=False)
    if report is not None and not as_json:
        click.echo(f"report: {report}  (it says how to break the release: keep it to yourself)")
    if public_summary is not None and not as_json:
        click.echo(f"public summary: {public_summary}  (grade and utility only)")
    if not found.trustworthy:
        sys.exit(Exit.UNTRUSTED)
    if limits is not None:
        check_limits(limits, found)


def _audit_with_key(
    original: Path, released: Path, key: Path | None, receipt: Path | None, options: dict[str, Any]
) -> Audit:
    if key is None:
        raise click.UsageError("--receipt is opened with its key: give --key too")
    table, file = open_source(original), Path(released)
    opened, body = receipt_of_file(key, receipt, file)
    require_original(table, body, opened, Watch(1))
    if "shadows" in options and "method" not in options:
        made = find_method(body.method).load()
        options["method"] = made(**{name: body.public[name] for name in made().get_params() if name in body.public})
    exact = is_released_file(file, opened, body)
    return audit_files(
        table, open_released(released, body.file_columns, ours=exact), opened, body, trusted=exact, **options
    )
