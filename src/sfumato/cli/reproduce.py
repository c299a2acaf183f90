"""`sfumato reproduce`: the papers' tables and figures, the printed numbers beside ours."""

from __future__ import annotations

import json
from pathlib import Path

import click

from sfumato.cli.progress import Progress
from sfumato.files.storage.outputs import check_outputs, write_atomically
from sfumato.papers.catalogue import papers


@click.command()
@click.argument("paper", required=False)
@click.option("--all", "everything", is_flag=True, help="All five papers.")
@click.option("--quick", is_flag=True, help="Fewer repetitions: all five within three minutes.")
@click.option(
    "--data", "folder", type=click.Path(path_type=Path), help="Folder with the papers' data (default: SFUMATO_DATA)."
)
@click.option("--report", type=click.Path(path_type=Path, dir_okay=False), help="Write an HTML page with the figures.")
@click.option("--force", is_flag=True, help="Replace the report if it exists.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Processes.")
def reproduce(
    paper: str | None,
    everything: bool,
    quick: bool,
    folder: Path | None,
    report: Path | None,
    force: bool,
    as_json: bool,
    jobs: int,
) -> None:
    """Repeat the experiments of PAPER, or list the papers."""
    if paper is not None and everything:
        raise click.UsageError("give a PAPER or --all, not both")
    if paper is None and not everything:
        for entry in papers():
            click.echo(f"{entry.name:8} {entry.about}")
        click.echo("\nsfumato reproduce PAPER repeats one, sfumato reproduce --all all of them.")
        return
    from sfumato.papers.rendering.html import to_html
    from sfumato.papers.rendering.json import to_json
    from sfumato.papers.rendering.text import to_text
    from sfumato.papers.runner import reproduce as run

    check_outputs({"the report": report}, force=force)
    names = [entry.name for entry in papers()] if paper is None else [paper]
    progress = Progress()
    results = run(names, quick=quick, folder=folder, progress=lambda share, text: progress(text, share), jobs=jobs)
    if report is not None:
        page = to_html(results).encode()
        write_atomically(report, lambda file: file.write(page))
        click.echo(f"report: {report}", err=True)
    click.echo(json.dumps(to_json(results), indent=1) if as_json else to_text(results))
