"""What the reference is made from: nothing that a command, a policy or a file has is left out."""

from __future__ import annotations

import re
from pathlib import Path

import click

import sfumato as sf
from sfumato.attack import attacks
from sfumato.cli import COMMANDS
from sfumato.metrics import catalogue
from sfumato.perturb import methods
from tools.website import catalogue_pages, command_pages, format_page, policy_page

ROOT = Path(__file__).resolve().parents[2]


def test_commands_have_every_option_that_help_shows() -> None:
    page = command_pages.command_page()
    found = dict(command_pages.commands())
    assert {name.split()[1] for name in found} == set(COMMANDS)
    for name, command in found.items():
        part = page[page.index(f"\n## {name}\n") :].partition("\n(sfumato-")[0]
        shown = command.get_help(click.Context(command, info_name=name))
        for flag in set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", shown)) - {"--help"}:
            assert flag in part, f"{name} {flag}"


def test_options_show_what_they_take_and_their_defaults() -> None:
    @click.command()
    @click.option("-d", "--depth", type=click.IntRange(1, 9), default=3, help="How deep.")
    @click.option(
        "--kind", type=click.Choice(["a", "b"]), multiple=True, help="Which; may be repeated. [default: both]"
    )
    @click.option("--quiet", is_flag=True, help="Say less.")
    @click.option("-o", "--output", required=True, help="Where to.")
    def told() -> None:
        """Tell."""

    assert [command_pages.option(one) for one in told.params if isinstance(one, click.Option)] == [
        ("`-d`, `--depth`", "number from 1 to 9", "`3`", "How deep."),
        ("`--kind`", "`a` or `b`, may be repeated", "both", "Which."),
        ("`--quiet`", "", "", "Say less."),
        ("`-o`, `--output`", "text", "required", "Where to."),
    ]


def test_every_setting_of_a_policy_has_a_kind_and_a_meaning() -> None:
    page = policy_page.policy_page()
    rows = re.findall(r"^\| `\w+` \|([^|]*)\|[^|]*\|(.*)\|$", page, re.MULTILINE)
    fields = sum(len(part["properties"]) for part in policy_page.Policy.model_json_schema()["$defs"].values())
    assert len(rows) == fields
    assert all(kind.strip() and meaning.strip() for kind, meaning in rows)
    assert "anything" not in page
    assert "| `kmeans` | list of whole number | `[2, 3, 4, 5, 6, 7, 8]` |" in page


def test_catalogues_are_complete() -> None:
    for row in methods():
        part = catalogue_pages.methods_page().partition(f"\n## {row.name}\n")[2].partition("\n## ")[0]
        assert f"`{row.id}`" in part
        assert all(f"| `{parameter.name}` |" in part for parameter in row.parameters)
        assert all(broken.attack in part for broken in row.known_breaks)
    assert all(f"| `{one.id}` |" in catalogue_pages.attacks_page() for one in attacks())
    assert all(f"\n## {one.name}\n" in catalogue_pages.metrics_page() for one in catalogue())


def test_every_format_that_the_package_names_is_told() -> None:
    assert set(format_page.versions()) == set(format_page.FORMATS) | format_page.INSIDE
    page = format_page.format_page()
    for title in ("Audit", "Comparison", "Tuned"):
        part = page.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
        rows = re.findall(r"^\| `\w+` \| (?:yes|no) \|([^|]*)\|", part, re.MULTILINE)
        assert len(rows) > 5
        assert all(kind.strip() for kind in rows)


def test_words_of_cells_stay_in_their_cells() -> None:
    from tools.website.markdown import table

    assert table(("a", "b"), [("x | y", "two\nlines")]).splitlines()[-1] == "| x \\| y | two lines |"


def test_policies_on_the_pages_of_concepts_are_policies() -> None:
    pages = (ROOT / "docs" / "concepts").glob("*.md")
    policies = [
        text for page in pages for text in re.findall(r"```toml\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    ]
    assert policies
    for text in policies:
        assert sf.parse_policy(text)
