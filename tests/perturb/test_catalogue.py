"""The catalogue: complete, true to the classes, and data."""

from __future__ import annotations

import inspect
import json

import pytest

from sfumato import perturb
from sfumato.cli.methods import as_data
from sfumato.perturb import methods
from sfumato.perturb.catalogue import method
from sfumato.perturb.mechanism.base import Perturber
from sfumato.perturb.mechanism.invertible import Invertible
from tests.perturb.cases import instance

COMMON = {"key", "release", "insecure_seed", "columns"}


def test_every_perturber_has_one_row() -> None:
    rows = methods()
    assert len({row.id for row in rows}) == len(rows)
    classes = {getattr(perturb, row.name) for row in rows}
    known, frontier = set(), [Perturber]
    while frontier:
        for child in frontier.pop().__subclasses__():
            if child.__module__.startswith("sfumato.") and not inspect.isabstract(child):
                known.add(child)
            frontier.append(child)
    assert known == classes


@pytest.mark.parametrize("row", methods(), ids=lambda row: row.id)
def test_a_row_says_the_same_as_its_class(row) -> None:
    cls = row.load()
    signature = inspect.signature(cls.__init__).parameters
    own = row.parameters
    assert {p.name for p in own} | COMMON == set(signature) - {"self"}
    for parameter in own:
        assert signature[parameter.name].default == parameter.default, parameter.name
        assert parameter.name in cls.__doc__
    assert all(signature[name].kind is inspect.Parameter.KEYWORD_ONLY for name in COMMON)
    assert cls.method_id == row.id
    assert method(row.name) is row
    assert issubclass(cls, Invertible) == row.invertible
    assert hasattr(cls, "inverse_transform") == row.invertible
    assert instance(row.id).tier == row.tier


@pytest.mark.parametrize("row", methods(), ids=lambda row: row.id)
def test_rows_are_plain_data_and_the_papers_settings_are_allowed(row) -> None:
    from sfumato.perturb.mechanism.parameters import check_parameter

    json.dumps(as_data(row))
    for name, value in row.paper_parameters.items():
        parameter = next(p for p in row.parameters if p.name == name)
        check_parameter(parameter, value, owner=row.name)
    for parameter in row.parameters:
        assert parameter.help
        assert parameter.allowed


def test_the_broken_orbit_is_marked() -> None:
    breaks = method("chaotic").known_breaks
    assert any(one.attack == "orbit" and one.when == {"source": "orbit"} for one in breaks)


def test_claims_about_distances_hold() -> None:
    from scipy.spatial.distance import pdist

    from tests.perturb.cases import table

    rows = table(40)
    for row in methods():
        released = instance(row.id, insecure_seed=1).fit_transform(rows)
        kept = released.shape == rows.shape and abs(pdist(released) / pdist(rows) - 1).max() < 1e-9
        assert kept == row.keeps_distances, row.id
