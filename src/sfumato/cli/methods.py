"""`sfumato methods`: the catalogue, for reading and as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import click

from sfumato.perturb.catalogue import method
from sfumato.perturb.catalogue import methods as every_method
from sfumato.perturb.catalogue.entries import Method


@click.command()
@click.argument("name", required=False, metavar="[METHOD]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def methods(name: str | None, as_json: bool) -> None:
    """List the methods, or describe one (by id or class name)."""
    rows = every_method() if name is None else (method(name),)
    if as_json:
        click.echo(json.dumps({"schema": "sfumato-methods-1", "methods": [as_data(row) for row in rows]}, indent=2))
    elif name is None:
        for row in rows:
            click.echo(f"{row.id:8} {row.name:20} {row.summary}")
        click.echo("\nsfumato methods METHOD tells more about one.")
    else:
        click.echo(describe(rows[0]))


def as_data(row: Method) -> dict[str, Any]:
    """Return a catalogue row as plain data."""
    return {
        "id": row.id,
        "class": f"sfumato.perturb.{row.name}",
        "summary": row.summary,
        "paper": f"{row.paper.authors}: {row.paper.title}. {row.paper.venue}, {row.paper.year}",
        "tier": row.tier,
        "passes": row.passes,
        "invertible_with_the_key": row.invertible,
        "keeps_distances": row.keeps_distances,
        "guarantee": None if row.guarantee is None else asdict(row.guarantee),
        "parameters": [
            {"name": p.name, "default": p.default, "allowed": p.allowed, "secret": p.secret, "help": p.help}
            for p in row.parameters
        ],
        "known_breaks": [
            {"attack": b.attack, "cost": b.cost, "when": dict(b.when), "dense": b.dense} for b in row.known_breaks
        ],
    }


def describe(row: Method) -> str:
    """Return a page about one method."""
    lines = [
        f"{row.name} [{row.id}]: {row.summary}",
        f"  paper       {row.paper.authors}: {row.paper.title}, {row.paper.year}",
        f"  tier        {row.tier}, {row.passes} pass(es) over the table",
        f"  invertible  {'with the key' if row.invertible else 'no'}",
        f"  distances   {'kept' if row.keeps_distances else 'changed'}",
        "  broken by   "
        + ("; ".join(one.text for one in row.known_breaks) or "none known to us (that is not a proof)"),
    ]
    if row.guarantee is not None:
        lines.append(f"  guarantee   {row.guarantee.claim}, for {row.guarantee.unit}: {row.guarantee.proof}")
    lines.append("  parameters")
    for parameter in row.parameters:
        lines.append(f"    {parameter.name} = {parameter.default!r}: {parameter.help}")
        lines.append(f"      {parameter.allowed}")
    return "\n".join(lines)
