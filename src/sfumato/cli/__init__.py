"""The command line: a thin shell around the library.

Commands are loaded when they are called, so that `sfumato --help` answers at once. A user's mistake ends in one
line and a hint, never in a traceback; the exit codes stand in `exit_codes.py`, and which error gets which in `outcome`.
"""

from __future__ import annotations

import contextlib
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

import click

from sfumato import __version__
from sfumato.cli.exit_codes import Exit
from sfumato.cli.outcome import outcome_of, require_room
from sfumato.cli.quiet import quiet_libraries
from sfumato.core.parts import leave_nothing
from sfumato.core.system import address_space, on_ending

__all__ = ["main", "sfumato"]

# command -> (module, short help); the help stands here so that listing commands loads none of them
COMMANDS = {
    "audit": ("sfumato.cli.audit", "Attack a released file, and say what an attacker gets."),
    "compare": ("sfumato.cli.compare", "Every method side by side on your table."),
    "demo": ("sfumato.cli.demo", "A tour on a table that ships with sfumato."),
    "join": ("sfumato.cli.join", "Bring a miner's labels back to the original rows."),
    "key": ("sfumato.cli.key", "Make a key, or show its fingerprint."),
    "merge": ("sfumato.cli.merge", "Join the summaries of several owners."),
    "methods": ("sfumato.cli.methods", "The methods: what they do, what they take, who breaks them."),
    "policy": ("sfumato.cli.policy", "Write a first policy for a table, or check one."),
    "release": ("sfumato.cli.release", "Release a file: perturbed, shuffled, with a key that only you keep."),
    "reproduce": ("sfumato.cli.reproduce", "The papers' tables, paper against ours."),
    "restore": ("sfumato.cli.restore", "Undo an invertible release with its key."),
    "studio": ("sfumato.cli.studio", "A local web page: protect a table and watch what it does."),
    "summarize": ("sfumato.cli.summarize", "One owner's summary, for a release of several owners."),
    "tune": ("sfumato.cli.tune", "Search for the best method and parameters for your table."),
}
_SMALL = {"key", "methods"}  # load no large library


class _ReaderGoneError(Exception):
    """Nobody reads the output any more; click would end such a command with 1, which means another thing here."""


class _LazyGroup(click.Group):
    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise _ReaderGoneError from None

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in _SMALL and not {"-h", "--help"} & set(args):
            require_room(address_space())
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        command = getattr(import_module(COMMANDS[cmd_name][0]), cmd_name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="sfumato")
def sfumato() -> None:
    """Blur every record, keep every cluster."""


def main() -> None:
    """Run the command line; map errors to exit codes."""
    try:  # around everything: memory may be missing at the first step and at the last
        on_ending(_interrupt)
        with quiet_libraries():
            _run()
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001  # panics of libraries are no ordinary exceptions
        _end(error)


def _run() -> None:
    try:
        sfumato(standalone_mode=False)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.ClickException as error:
        error.show()
        if isinstance(error, click.UsageError):
            for name in filter(_is_file, sys.argv[1:]):
                click.echo(f"hint: {name} is a file here; write ./{name}, or -- before it", err=True)
        sys.exit(error.exit_code)
    except (_ReaderGoneError, BrokenPipeError):  # the reader of our output has gone, as in `sfumato methods | head`
        sys.stderr.close()
        sys.exit(Exit.PIPE)
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001  # told before libraries may print again
        _end(error)


def _end(error: BaseException) -> NoReturn:
    """Leave nothing unfinished, say what has happened, and exit."""
    leave_nothing()
    said, code = outcome_of(error)
    with contextlib.suppress(OSError):  # the terminal may be gone
        click.echo(said, err=True)
    sys.exit(code)


def _is_file(argument: str) -> bool:
    return argument.startswith("-") and Path(argument).is_file()


class _AskedToEndError(KeyboardInterrupt):
    """Of a kind of its own: with the plain one the interpreter may end by a signal although somebody has caught it."""


def _interrupt(_number: int, _frame: object) -> None:
    raise _AskedToEndError
