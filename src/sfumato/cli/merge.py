"""`sfumato merge`: the summaries of all owners, joined."""

from __future__ import annotations

from pathlib import Path

import click

from sfumato.pipeline.collaborate import merge as run_merge


@click.command()
@click.argument("summaries", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("-o", "--output", "out", required=True, type=click.Path(path_type=Path), help="The joint file to write.")
@click.option("--key", required=True, type=click.Path(path_type=Path), help="The key that the owners share.")
@click.option("--force", is_flag=True, help="Replace the joint file if it exists.")
def merge(summaries: tuple[Path, ...], out: Path, key: Path, force: bool) -> None:
    """Join the SUMMARIES of all owners for one pass; the order of the first merge is the order of the rows."""
    done = run_merge(summaries, out, key, force=force)
    click.echo(f"pass {done.passes} of {', '.join(done.owners)} ({done.n_rows:,} rows) joined in {out}")
    if done.ready:
        click.echo(
            f"ready: every owner releases now: sfumato release DATA -o OUT --key {key} --joint {out} --owner NAME"
        )
    else:
        click.echo(f"next: every owner runs: sfumato summarize DATA -o SUMMARY --key {key} --joint {out} --owner NAME")
