"""The reference of methods, attacks and metrics, made from their catalogues."""

from __future__ import annotations

import math

from sfumato.attack import attacks
from sfumato.metrics import catalogue
from sfumato.perturb import methods
from sfumato.perturb.catalogue.entries import Method
from sfumato.perturb.mechanism.parameters import Parameter
from tools.website.markdown import code, facts, table

TIERS = {
    "row": "each row by itself; tables of any size stream",
    "group": "rows meet in groups of bounded size; tables of any size stream",
    "table": "the whole table in memory",
}
RUNGS = ("Nothing", "Public figures", "A sample of the population", "People's records", "Known rows")


def methods_page() -> str:
    """Return the page of all methods."""
    rows = [(f"[{one.name}](#{one.name.lower()})", code(one.id), one.summary, one.tier) for one in methods()]
    lines = ["# Methods", "", "Every method of the catalogue, with its parameters and who breaks it.", ""]
    lines += ["[Which method for whom](../concepts/which-method.md) helps to choose.", ""]
    lines += [table(("method", "id", "what it does", "tier"), rows)]
    for one in methods():
        lines += [f"## {one.name}", "", *method_section(one)]
    return "\n".join(lines)


def method_section(one: Method) -> list[str]:
    """Return what the catalogue says of one method."""
    yes = {True: "yes", False: "no"}
    nobody = "whoever links the method inside" if one.wraps else "no attack of ours, which is no proof"
    known = [
        ("id", code(one.id)),
        ("class", f"[`sfumato.perturb.{one.name}`](python/sfumato.perturb.{one.name}.rst)"),
        ("tier", f"{one.tier}: {TIERS[one.tier]}"),
        ("passes over a file", f"at most {one.passes}"),
        ("the owner gets the originals back", yes[one.invertible]),
        ("keeps distances between rows", yes[one.keeps_distances]),
        ("undone by someone who knows", "; ".join(broken.text for broken in one.known_breaks) or nobody),
        ("from", f"{one.paper.authors}: {one.paper.title}. {one.paper.venue}, {one.paper.year}"),
    ]
    lines = [one.summary, "", facts(known)]
    if one.parameters:
        lines.append(table(("parameter", "takes", "default", "meaning"), [parameter(it) for it in one.parameters]))
    return lines


def parameter(one: Parameter) -> tuple[str, str, str, str]:
    """Return the line of a parameter."""
    note = " Secret: it is never shown." if one.secret else ""
    return code(one.name), one.allowed, code(repr(one.default)), one.help + note


def attacks_page() -> str:
    """Return the page of all attacks, by what the attacker must know."""
    lines = ["# Attacks", "", "Every attack of the catalogue, by what the attacker must know."]
    lines += ["[The attacks](../attacks.md) says how they are scored and what each does to every method.", ""]
    for rung, knows in enumerate(RUNGS):
        found = [one for one in attacks() if one.rung == rung]
        if not found:
            continue
        rows = [(code(one.id), one.name, one.summary, one.cost, one.goal) for one in found]
        lines += [f"## {rung}. {knows}", "", table(("id", "attack", "how", "costs", "guesses"), rows)]
    return "\n".join(lines)


def metrics_page() -> str:
    """Return the page of all metrics."""
    lines = [
        "# Metrics",
        "",
        "Every metric of the catalogue: what it needs, what it gives, and which way is better.",
        "",
    ]
    for one in catalogue():
        low, high = (f"{end:g}" if math.isfinite(end) else "unbounded" for end in one.bounds)
        known = [
            ("function", f"[`sfumato.metrics.{one.function}`](python/sfumato.metrics.{one.function}.rst)"),
            ("needs", ", ".join(one.needs)),
            ("gives", f"{one.gives}, from {low} to {high}" + (f", in {one.unit}" if one.unit else "")),
            ("reads", one.direction),
            ("from", one.paper),
        ]
        lines += [f"## {one.name}", "", one.summary, "", facts(known)]
    return "\n".join(lines)
