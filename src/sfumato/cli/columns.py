"""The columns of a table as a person reads them: what becomes of each, and what it seems to hold."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from sfumato.files.opening import open_source
from sfumato.files.storage.outputs import check_outputs, inputs, write_atomically
from sfumato.policy.first_rows import profile, suggested_relations
from sfumato.policy.guesses import Guess, guess_roles
from sfumato.policy.text import first_policy

BECOMES = {"identifier": "dropped", "keep": "kept as it is", "confidential": "perturbed"}


def guess_columns(
    data: str | os.PathLike[str], identifier: Sequence[str] = (), keep: Sequence[str] = ()
) -> tuple[tuple[Guess, ...], str]:
    """Return a guess for every column of a file, and a first policy that says it.

    Parameters
    ----------
    identifier, keep : sequences of str
        What somebody has said already.
    """
    said = {**dict.fromkeys(identifier, "identifier"), **dict.fromkeys(keep, "keep")}
    guesses = tuple(
        Guess(one.name, said[one.name], "said on the command line") if one.name in said else one  # type: ignore[arg-type]
        for one in look_at_columns(data)
    )
    perturbed = [guess.name for guess in guesses if guess.role == "confidential"]
    return guesses, first_policy(guesses, suggested_relations(open_source(data), perturbed))


def look_at_columns(data: str | os.PathLike[str]) -> tuple[Guess, ...]:
    """Return a guess for every column of a file, from its first rows."""
    return guess_roles(profile(open_source(data)), exchange=True)


def columns_table(guesses: Sequence[Guess]) -> str:
    """Return the table of columns.

    Examples
    --------
    >>> print(columns_table([Guess("id", "identifier", "a different value in every row"), Guess("age", "keep", "few")]))
    column  becomes        it holds, by its first rows
    id      dropped        a different value in every row
    age     kept as it is  few
    """
    rows = [
        ("column", "becomes", "it holds, by its first rows"),
        *((one.name, BECOMES[one.role], one.reason) for one in guesses),
    ]
    widths = [max(len(row[place]) for row in rows) for place in range(2)]
    return "\n".join(f"{name:{widths[0]}}  {becomes:{widths[1]}}  {why}".rstrip() for name, becomes, why in rows)


def policy_place(data: str, policy: Path | None) -> Path:
    """Return where a guessed policy goes: where somebody says, or beside the table."""
    if policy is not None:
        return policy
    path = Path(data)
    return path.with_name(f"{path.name.partition('.')[0] or 'table'}.policy.toml")


def confirmed_policy(
    data: str,
    place: Path,
    identifier: Sequence[str],
    keep: Sequence[str],
    *,
    yes: bool,
    write: bool,
    force: bool,
    err: bool,
) -> str:
    """Guess what becomes of every column, show it, have it confirmed once, and write it as a policy.

    Parameters
    ----------
    place : Path
        Where the policy goes.
    identifier, keep : sequences of str
        What somebody has said already.
    yes : bool
        Whether it is confirmed already.
    write : bool
        Whether it is written, or only shown.
    force : bool
        Whether an existing policy is replaced.
    err : bool
        Whether it is shown on stderr.

    Returns
    -------
    str
        The policy.
    """
    if write:
        check_outputs({"the policy": place}, inputs(data), force=force)
    guesses, text = guess_columns(data, identifier, keep)
    click.echo(columns_table(guesses), err=err)
    if not write:
        return text
    if not yes:
        click.echo("Is this right? Write it as a policy and release? [y/N] ", nl=False, err=True)
        answer = sys.stdin.readline()
        if not answer:
            raise click.UsageError("nobody is there to confirm the guesses: look at them first, then say --yes")
        if answer.strip().lower() not in ("y", "yes"):
            raise click.UsageError(
                "not confirmed, and nothing was written: say what is wrong with --id COL and --keep COL, "
                "or change a policy from `sfumato policy init`"
            )
    write_atomically(place, lambda file: file.write(text.encode()))
    click.echo(f"policy: {place}", err=err)
    return text
