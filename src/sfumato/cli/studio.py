"""`sfumato studio`: the local web page."""

from __future__ import annotations

from pathlib import Path

import click

from sfumato.exceptions import MissingComponentError


@click.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--port", type=click.IntRange(1024, 65535), help="Port on 127.0.0.1; a free one by default.")
@click.option("--no-browser", is_flag=True, help="Print the link and open nothing.")
def studio(file: Path | None, port: int | None, no_browser: bool) -> None:
    """Open a local page on which a table is protected, attacked and released.

    FILE is read where it is; without one, choose or drop a file on the page. Nothing leaves this computer.
    """
    try:
        from sfumato.studio.server import serve
    except ImportError:
        serve = None  # type: ignore[assignment]
    if serve is None:
        raise MissingComponentError("the studio is not installed", hint="pip install 'sfumato[studio]'")
    serve(file, port=port or 0, open_browser=not no_browser, say=click.echo)
