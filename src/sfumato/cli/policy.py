"""`sfumato policy`: begin a policy from a file, or check one."""

from __future__ import annotations

from pathlib import Path

import click

from sfumato.cli.columns import guess_columns
from sfumato.cli.csv_options import csv_options
from sfumato.files.opening import open_source
from sfumato.files.storage.outputs import check_outputs, inputs, write_atomically
from sfumato.policy.reading import read_policy


@click.group()
def policy() -> None:
    """Write a first policy for a table, or check a policy."""


@policy.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.option("-o", "--output", "out", type=click.Path(path_type=Path), help="The file to write. [default: the screen]")
@csv_options("data")
@click.option("--force", is_flag=True, help="Replace OUT if it exists.")
def init(data: Path, out: Path | None, force: bool) -> None:
    """Guess the role of every column of DATA, with the reason, and write a policy to begin with."""
    check_outputs({"the policy": out}, inputs(data), force=force)
    _, text = guess_columns(data)
    if out is None:
        click.echo(text, nl=False)
        return
    write_atomically(out, lambda file: file.write(text.encode()))
    click.echo(
        f"wrote {out}: read the guesses, change what is wrong, then: sfumato release {data} -o OUT --policy {out}"
    )


@policy.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--data", type=click.Path(path_type=Path), help="Also check that this table has the columns.")
def check(file: Path, data: Path | None) -> None:
    """Check a policy: its names, types and values, and the columns of DATA."""
    from sfumato.core.keys import Key
    from sfumato.pipeline.plan import build_perturber, make_plan, read_every_kind

    read = read_policy(file)
    if data is None:
        build_perturber(read)
    else:
        plan = make_plan(*read_every_kind(open_source(data), read), Key.generate())
        click.echo(f"perturbed: {', '.join(plan.roles.confidential)}")
        click.echo(
            f"kept: {', '.join(plan.roles.keep) or 'none'}; dropped: {', '.join(plan.roles.identifier) or 'none'}"
        )
    click.echo(f"{file}: a valid policy")
