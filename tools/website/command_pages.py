"""The reference of the command line, made from click: usage, arguments, options, types and defaults."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import click

from sfumato.cli import sfumato as root
from tools.website.markdown import code, table


def commands(group: click.Group = root, path: tuple[str, ...] = ("sfumato",)) -> Iterator[tuple[str, click.Command]]:
    """Yield every command by what is typed for it, those of groups too."""
    context = click.Context(group, info_name=path[-1])
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield " ".join((*path, name)), command
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))


def command_page() -> str:
    """Return the page of all commands."""
    found = dict(commands())
    lines = ["# Command line", "", "What `sfumato COMMAND --help` tells, on one page.", ""]
    top = [(f"[`{name}`](#{anchor(name)})", summary(one)) for name, one in found.items()]
    lines += [table(("command", "what it does"), top)]
    for name, command in found.items():
        lines += [f"({anchor(name)})=", f"## {name}", "", *section(name, command)]
    return "\n".join(lines)


def anchor(name: str) -> str:
    """Return the place of a command on its page."""
    return name.replace(" ", "-")


def summary(command: click.Command) -> str:
    """Return the first sentence of a command's help, which may quote placeholders."""
    return told(command).partition("\n\n")[0]


def told(command: click.Command) -> str:
    """Return the help of a command as click shows it."""
    return inspect.cleandoc(command.help or "").partition("\f")[0].replace("\b\n", "")


def section(name: str, command: click.Command) -> list[str]:
    """Return what is said of one command."""
    context = click.Context(command, info_name=name)
    usage = " ".join([name, *command.collect_usage_pieces(context)])
    lines = ["```text", usage, "```", "", told(command), ""]
    options = [option(one) for one in command.params if isinstance(one, click.Option) and not one.hidden]
    if options:
        lines.append(table(("option", "takes", "default", "meaning"), options))
    return lines


def option(one: click.Option) -> tuple[str, str, str, str]:
    """Return the line of an option."""
    names = ", ".join(code(name) for name in (*one.opts, *one.secondary_opts))
    takes = "" if one.is_flag else words_of(one.type) + (", may be repeated" if one.multiple else "")
    text = (one.help or "").replace("; may be repeated", "")
    said = re.search(r"\s*\[default: (.*?)\]", text)  # defaults that are worked out when the command runs
    default = said[1] if said else plain_default(one)
    if one.required:
        default = "required"
    return names, takes, default, re.sub(r"\s*\[default: .*?\]", "", text)


def plain_default(one: click.Option) -> str:
    """Return the default of an option as it would be typed; nothing where there is none."""
    default = one.to_info_dict()["default"]
    return "" if one.is_flag or default in (None, (), []) or callable(default) else code(default)


def words_of(kind: click.ParamType) -> str:
    """Return what an option takes."""
    if isinstance(kind, click.Choice):
        return " or ".join(code(choice) for choice in kind.choices)
    if isinstance(kind, click.IntRange | click.FloatRange):
        low, high = kind.min, kind.max
        ends = [f"from {low}"] * (low is not None) + [f"to {high}"] * (high is not None)
        return " ".join(["number", *ends])
    return {"integer": "whole number", "float": "number", "boolean": "yes or no"}.get(kind.name, kind.name)
