"""Progress on stderr: a line that rewrites itself on a terminal, otherwise a line for each tenth."""

from __future__ import annotations

import sys

import click

__all__ = ["Progress"]


class Progress:
    """Tell how far a long job is.

    Call it with (what is being done, share done); it stays silent when `quiet`.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._terminal = sys.stderr.isatty()
        self._told = -1

    def __call__(self, what: str, share: float) -> None:
        if self._quiet:
            return
        if self._terminal:
            bar = "#" * int(30 * share)
            click.echo(f"\r[{bar:30}] {share:4.0%} {what[:45]:45}", nl=share >= 1.0, err=True)
        elif int(10 * share) > self._told:
            self._told = int(10 * share)
            click.echo(f"{share:4.0%} {what}", err=True)
