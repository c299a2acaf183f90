"""The reference of file formats: what sfumato writes, in which version, and the JSON Schemas."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from sfumato.core.stream import STREAM_VERSION
from tools.website.markdown import code, facts, table
from tools.website.policy_page import kind

ROOT = Path(__file__).resolve().parents[2]
HEADER = re.compile(r"[\"'](sfumato-[a-z-]+)-(\d+)")

#: formats that people meet: what begins with this name is what
FORMATS = {
    "sfumato-key": "a key file: 32 secret bytes, readable by its owner alone",
    "sfumato-receipt": "a receipt: what the owner needs beside the key, sealed under it",
    "sfumato-history": "the history beside the keys: keyed fingerprints of released tables",
    "sfumato-history-key": "the key of the history, which is no key of a release",
    "sfumato-history-people": "the sealed file of the history: keyed hashes of released people",
    "sfumato-shared": "what owners exchange who release together, sealed under their shared key",
    "sfumato-scale": "the public scale of a release (`sfumato release --scale`): what was subtracted and divided by",
    "sfumato-privacy": "the ledger beside the keys: what differentially private releases have spent",
    "sfumato-audit": "an audit: `sfumato audit --json`, `Audit.to_json`",
    "sfumato-comparison": "a comparison: `sfumato compare --json`, `Comparison.to_json`",
    "sfumato-tuning": "a search: `sfumato tune --json`, `Tuned.to_json`",
    "sfumato-release": "what a release did: `sfumato release --json`",
    "sfumato-join": "what a join did: `sfumato join --json`",
    "sfumato-restore": "what a restoration did: `sfumato restore --json`",
    "sfumato-methods": "the catalogue of methods: `sfumato methods --json`",
    "sfumato-reproduction": "the experiments of a paper: `sfumato reproduce --json`",
}
#: labels of derived keys and of what travels inside the files above
INSIDE = {"sfumato-derive", "sfumato-values"}


def versions() -> dict[str, int]:
    """Return the newest version of every format that the package names."""
    found: dict[str, int] = {}
    for path in sorted((ROOT / "src" / "sfumato").rglob("*.py")):
        for name, version in HEADER.findall(path.read_text(encoding="utf-8")):
            found[name] = max(found.get(name, 0), int(version))
    return found


def format_page() -> str:
    """Return the page of file formats."""
    now = versions()
    rows = [(code(f"{name}-{now[name]}"), what) for name, what in FORMATS.items()]
    lines = ["# File formats", "", "Every file begins with its name and version, and every JSON object holds it as"]
    lines += ["`schema`. Files of every released version can be read; nothing is pickled.", ""]
    lines += [table(("begins with", "what it is"), rows)]
    lines += [f"The random streams have version {STREAM_VERSION}: the same key, table, policy and stream version give"]
    lines += ["the same bytes. Tables are read and written as CSV, Parquet and Arrow, see"]
    lines += ["[the policy](../guide/policy.md#what-comes-back). Policies are [TOML files](policy.md).", ""]
    for path in sorted((ROOT / "docs").glob("*.schema.json")):
        lines += schema_section(path)
    return "\n".join(lines)


def schema_section(path: Path) -> list[str]:
    """Return what a JSON Schema says of the top of its objects."""
    schema = json.loads(path.read_text(encoding="utf-8"))
    properties = schema["properties"]
    said = described(str(schema.get("description", "")))
    required = schema.get("required", [])
    rows = [
        (code(name), "yes" if name in required else "no", type_of(schema, about), said.get(name, ""))
        for name, about in properties.items()
    ]
    about = str(schema.get("description", "")).partition("\n\n")[0]
    top = facts([("version", code(properties["schema"]["const"])), ("schema", f"[{path.name}](../{path.name})")])
    return [f"## {schema['title']}", "", about, "", top, table(("field", "always there", "holds", "meaning"), rows)]


def type_of(schema: dict[str, Any], about: dict[str, Any]) -> str:
    """Return what a field holds; parts with a schema of their own by name."""
    if "$ref" in about:
        return str(about["$ref"].rpartition("/")[2])
    if "anyOf" in about:
        return " or ".join(type_of(schema, one) for one in about["anyOf"])
    if about.get("type") == "array":
        items = about.get("items") or (about.get("prefixItems") or [{}])[0]
        return f"list of {type_of(schema, items)}"
    words = {"null": "nothing", "object": "an object"}
    return words.get(str(about.get("type"))) or kind(schema, about)


def described(text: str) -> dict[str, str]:
    """Return the sentence on each field of a docstring with a section of attributes."""
    found: dict[str, str] = {}
    names: list[str] = []
    for line in text.partition("----------\n")[2].splitlines():
        if line and not line.startswith(" "):
            names = [name.strip() for name in line.partition(" : ")[0].split(",")]
        else:
            for name in names:
                found[name] = f"{found.get(name, '')} {line.strip()}".strip()
    return found
