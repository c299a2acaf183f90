"""The reference of policy files, made from their schema; the meanings are those of docs/guide/policy.md."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from pydantic_core import PydanticUndefined

from sfumato import Policy
from sfumato.policy import model
from tools.website.markdown import code, table

TOP = ""  # what stands in no section
GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "policy.md"


def policy_page() -> str:
    """Return the page: a table for each section."""
    schema = Policy.model_json_schema()
    said = meanings(GUIDE.read_text(encoding="utf-8"))
    lines = [
        "# Policy files",
        "",
        "A policy is a TOML file without secrets. Every section and setting may be left out.",
    ]
    lines += ["[The policy](../guide/policy.md) shows one at work; `sfumato policy init` writes a first one.", ""]
    lines += ["The [JSON Schema](policy.schema.json) is for editors that check TOML files while they are written.", ""]
    for name, one in schema["properties"].items():
        part = section_of(schema, one)
        if part is None:
            meaning = said.get((TOP, name)) or said["columns", name]
            lines += [f"## {name}", "", f"At the top of the file; {kind(schema, one)}: {meaning}.", ""]
            continue
        title = f"[{name}.NAME]" if one.get("additionalProperties") else f"[{name}]"
        lines += [f"## {title}", "", first_paragraph(part), ""]
        rows = [
            (code(field), kind(schema, about), default(part, field), said.get((name, field), ""))
            for field, about in part["properties"].items()
        ]
        if part.get("additionalProperties") is True:
            rows.append(("any other", "", "", said[name, "any other"]))
        lines.append(table(("setting", "takes", "default", "meaning"), rows))
    return "\n".join(lines)


def policy_schema() -> str:
    """Return the JSON Schema of policy files."""
    return json.dumps(Policy.model_json_schema(), indent=2) + "\n"


def first_paragraph(part: dict[str, Any]) -> str:
    """Return what a section is, in a sentence."""
    return " ".join(str(part.get("description", "")).partition("\n\n")[0].split())


def section_of(schema: dict[str, Any], one: dict[str, Any]) -> dict[str, Any] | None:
    """Return the section that a top-level setting stands for; None for a plain value."""
    places = [one, *one.get("anyOf", []), one.get("additionalProperties", {})]
    for place in places:
        if isinstance(place, dict) and "$ref" in place:
            found: dict[str, Any] = schema["$defs"][place["$ref"].rpartition("/")[2]]
            return found
    return None


def kind(schema: dict[str, Any], about: dict[str, Any]) -> str:
    """Return what a setting takes, in words."""
    if "enum" in about:
        return " or ".join(code(json.dumps(value)) for value in about["enum"])
    if "const" in about:
        return code(json.dumps(about["const"]))
    if "anyOf" in about:
        return ", or ".join(kind(schema, one) for one in about["anyOf"] if one.get("type") != "null")
    if about.get("type") == "array":
        items = about.get("items", {})
        return f"list of ({kind(schema, items)})" if "anyOf" in items else f"list of {kind(schema, items)}"
    words = {"string": "text", "number": "number", "integer": "whole number", "boolean": "`true` or `false`"}
    ends = {"minimum": "from", "exclusiveMinimum": "above", "maximum": "to", "exclusiveMaximum": "below"}
    limits = [f"{word} {about[name]:g}" for name, word in ends.items() if name in about]
    return " ".join([words.get(str(about.get("type")), "anything"), *limits])


def default(part: dict[str, Any], field: str) -> str:
    """Return the default of a setting, as the model has it; nothing where there is none."""
    value = getattr(model, part["title"]).model_fields[field].get_default(call_default_factory=True)
    return "" if value in (None, PydanticUndefined) else code(json.dumps(value))


def meanings(page: str) -> dict[tuple[str, str], str]:
    """Return the meaning of each (section, setting) in the table of the guide."""
    found: dict[tuple[str, str], str] = {}
    section = ""
    rows = re.findall(r"^\|([^|]*)\|([^|]*)\|(.*)\|$", page, re.MULTILINE)
    for place, names, meaning in rows:
        named = re.search(r"`\[(\w+)", place)
        section = named[1] if named else TOP if place.strip() == "top of the file" else section
        for name in re.findall(r"`(\w+)`", names) or [names.strip()]:
            found[section, name] = re.sub(r"\]\((?!\.\./|#|http)", "](../guide/", meaning).strip()
    return found
