"""How a CSV file is written: the options of every command that reads a table."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from sfumato.files.formats.csv_dialect import CsvFile


def csv_options(argument: str, *released: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command the options --separator, --quote and --escape.

    Parameters
    ----------
    argument : str
        The argument with the path of the table, which becomes a `CsvFile` where one of the options is given.
    *released : str
        Arguments with files that sfumato has written: they have the separator of their original.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @click.option(
            "--separator", type=click.Choice([",", ";", "tab", "|"]), help="What separates cells of a CSV file."
        )
        @click.option(
            "--quote", type=click.Choice(['"', "'", "none"]), help="What cells of a CSV file are quoted with."
        )
        @click.option(
            "--escape",
            type=click.Choice(["backslash", "none"]),
            help='How a quote stands in a quoted cell: \\" or doubled.',
        )
        @wraps(command)
        def inner(*, separator: str | None, quote: str | None, escape: str | None, **given: Any) -> Any:
            cut = "\t" if separator == "tab" else separator
            if cut or quote or escape:
                given[argument] = CsvFile(given[argument], cut, quote, escape)
                for name in released:
                    given[name] = CsvFile(given[name], cut)
            return command(**given)

        return inner

    return decorate
