"""`sfumato key`: make a key, or tell keys apart."""

from __future__ import annotations

from pathlib import Path

import click

from sfumato.core.keys import Key


@click.group()
def key() -> None:
    """Make a key file, or show which key a file holds (never the key itself)."""


@key.command()
@click.argument("file", type=click.Path(path_type=Path))
def new(file: Path) -> None:
    """Write a new key to FILE, readable by you alone; an existing file is never overwritten."""
    made = Key.generate()
    made.save(file)
    click.echo(f"new key in {file}, fingerprint {made.fingerprint}")
    click.echo(
        "back it up: without it a release can be neither repeated nor restored, and whoever has it undoes releases"
    )


@key.command()
@click.argument("file", type=click.Path(path_type=Path))
def show(file: Path) -> None:
    """Print the fingerprint of the key in FILE."""
    click.echo(f"fingerprint {Key.load(file).fingerprint}")
