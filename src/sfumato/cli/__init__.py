"""The command line: a thin shell around the library.

Commands are loaded when they are called, so that `sfumato --help` answers at once. A user's mistake ends in one
line and a hint, never in a traceback; exit codes are 0 fine, 2 usage, 3 data or file problem, 4 the audit
cannot be trusted, 130 interrupted.
"""

from __future__ import annotations

import sys
from importlib import import_module

import click

from sfumato import __version__
from sfumato.exceptions import SfumatoError

__all__ = ["main", "sfumato"]

# command -> (module, short help); the help stands here so that listing commands loads none of them
COMMANDS = {
    "audit": ("sfumato.cli.audit", "Attack a released file, and say what an attacker gets."),
    "compare": ("sfumato.cli.compare", "Every method side by side on your table."),
    "demo": ("sfumato.cli.demo", "A tour on a table that ships with sfumato."),
    "methods": ("sfumato.cli.methods", "The methods: what they do, what they take, who breaks them."),
    "reproduce": ("sfumato.cli.reproduce", "The papers' tables, paper against ours."),
}


class _LazyGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

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
    try:
        sfumato(standalone_mode=False)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.Abort:
        click.echo("sfumato: interrupted", err=True)
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except SfumatoError as error:
        click.echo(f"sfumato: error: {error}", err=True)
        sys.exit(3)
    except KeyboardInterrupt:
        click.echo("sfumato: interrupted", err=True)
        sys.exit(130)
