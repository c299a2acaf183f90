"""What the page knows comes from the catalogue, and what it sends back is checked by it."""

from __future__ import annotations

from typing import Any

import pytest

from sfumato.core.keys import Key
from sfumato.exceptions import ParameterError, SfumatoError
from sfumato.perturb import catalogue
from sfumato.perturb.catalogue.entries import Method
from sfumato.perturb.catalogue.papers import Paper
from sfumato.perturb.mechanism.parameters import Parameter, Span
from sfumato.policy.reading import parse_policy
from sfumato.policy.text import policy_text
from sfumato.studio import settings as module
from sfumato.studio.policies import EXTRAS, command_line, file_stem, policy_of
from sfumato.studio.settings import catalogue_data, checked_settings, perturber_of

NEW = Method(
    "new",
    "AdditiveNoise",
    "additive",
    "Does something nobody has thought of yet.",
    Paper("new", "N. N.", "New", "here", 2026),
    "row",
    3,
    invertible=False,
    keeps_distances=False,
    parameters=(
        Parameter("scale", "number", 0.1, "how much", low=0.0, search=Span(0.01, 2.0, log=True)),
        Parameter("offsets", "numbers", None, "what is added", optional=True, secret=True),
        Parameter("law", "choice", "normal", "which law", choices=("normal", "uniform")),
    ),
    known_breaks=(),
)


def test_a_new_perturber_appears_by_its_row_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "methods", lambda: (*catalogue.METHODS, NEW))
    shown = catalogue_data()[-1]
    assert (shown["id"], shown["name"], shown["summary"]) == ("new", "Additive noise", NEW.summary)
    assert [one["control"] for one in shown["parameters"]] == ["slider", "choice", "fixed"]
    assert (
        shown["parameters"][0] | {"low": 0.01, "high": 2.0, "log": True, "help": "how much"} == shown["parameters"][0]
    )
    assert shown["parameters"][2]["text"] == "drawn by the key"


def test_every_method_of_the_catalogue_is_offered_with_its_defaults() -> None:
    shown = {one["id"]: one for one in catalogue_data()}
    for row in catalogue.METHODS:
        if row.wraps:
            assert (row.id in shown) == (row.id in EXTRAS)
            continue
        settings = checked_settings({"method": row.id, "parameters": {}})
        made = perturber_of(settings, Key.generate(), ["a", "b"])
        assert type(made).__name__ == row.name
        names = {one["name"] for one in shown[row.id]["parameters"]}
        assert {p.name for p in row.parameters if p.search is not None} <= names, "what is worth trying has a control"


@pytest.mark.parametrize(
    "data",
    [
        None,
        {},
        {"method": "nonsense"},
        {"method": "+rho"},
        {"method": "adp", "parameters": {"scale": -1}},
        {"method": "adp", "parameters": {"scale": "much"}},
        {"method": "adp", "parameters": {"nonsense": 1}},
        {"method": "adp", "parameters": [1]},
        {"method": "adp", "extras": {"+rho": {"fraction": 7}}},
        {"method": "adp", "extras": {"+rho": {"perturber": "x"}}},
        {"method": "rdp", "parameters": {"angles": [10.0]}},
    ],
)
def test_settings_that_cannot_be_are_refused(data: Any) -> None:
    with pytest.raises(SfumatoError):
        checked_settings(data)


def test_a_secret_is_never_taken_from_the_page() -> None:
    with pytest.raises(ParameterError, match="drawn by the key"):
        checked_settings({"method": "tdp", "parameters": {"offsets": [1.0, 2.0]}})


def test_numbers_of_a_browser_and_of_a_policy_make_the_same_noise() -> None:
    # JavaScript writes 2.0 as 2, and the stream of a release depends on its parameters
    settings = checked_settings({"method": "adp", "parameters": {"scale": 1}, "extras": {"+rho": {"fraction": 1}}})
    text = policy_text(policy_of({"a": "confidential", "b": "confidential"}, settings))
    read = parse_policy(text)
    assert read.method is not None
    assert read.enhance is not None
    assert read.method.parameters == settings["parameters"]
    assert read.enhance.fraction == 1.0


def test_roles_and_hostile_names_survive_the_policy_file() -> None:
    names = ['"quoted"', "new\\line", "ünïcode", "a.b", "#not a comment"]
    roles = {names[0]: "identifier", names[1]: "keep", names[2]: "keep", names[3]: "confidential", names[4]: "keep"}
    policy = policy_of(roles, checked_settings({"method": "ina"}))
    read = parse_policy(policy_text(policy))
    assert read.columns.identifier == [names[0]]
    assert read.columns.keep == [names[1], names[2], names[4]]


def test_names_in_the_command_are_quoted() -> None:
    from pathlib import Path

    line = command_line("my table; rm -rf.csv", "x-released.csv", "x-policy.toml", Path("/keys/a b.key"))
    assert line.startswith("sfumato release 'my table; rm -rf.csv' -o x-released.csv")
    assert file_stem("../../etc/passwd.csv") == "etc-passwd"
    assert file_stem("=cmd|' /C calc'!A0.csv") == "cmd-C-calc-A0"
    assert file_stem("...csv") == "table"
