"""Every parameter of the public interface has a type, a sentence, and its default where it has one."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import pytest
from numpydoc.docscrape import ClassDoc, FunctionDoc

import sfumato as sf

PACKAGES = ("perturb", "attack", "metrics", "cluster", "datasets", "spark")


def public_callables() -> Iterator[tuple[str, Any]]:
    """Yield every public function and class that people call, by its public name."""
    for name in sf.__all__:
        one = getattr(sf, name)
        if callable(one) and not (inspect.isclass(one) and issubclass(one, BaseException)):
            yield name, one
    for package in PACKAGES:
        module = __import__(f"sfumato.{package}", fromlist=["*"])
        for name in module.__all__:
            one = getattr(module, name)
            if callable(one) and not (inspect.isclass(one) and issubclass(one, BaseException)):
                yield f"{package}.{name}", one


MADE_BY_US = {"Audit", "Comparison", "Tuned", "Receipt"}  # results: people read them and do not make them
CALLABLES = {name: one for name, one in public_callables() if name not in MADE_BY_US}


def documented(one: Any) -> dict[str, tuple[str, str]]:
    """Return type and text of each parameter in a docstring; `a, b : type` stands for both."""
    doc = ClassDoc(one) if inspect.isclass(one) else FunctionDoc(one)
    found = {}
    for section in ("Parameters", "Other Parameters", "Attributes") if inspect.isclass(one) else ("Parameters",):
        for entry in doc[section]:
            for name in entry.name.split(","):
                found.setdefault(name.strip().lstrip("*"), (entry.type, " ".join(entry.desc)))
    return found


def problems(one: Any) -> list[str]:
    """Return what is missing in the docstring of a public callable."""
    told, out = documented(one), []
    for name, parameter in inspect.signature(one).parameters.items():
        if name == "self":
            continue
        kind, text = told.get(name, ("", ""))
        variadic = parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
        if name not in told:
            out.append(f"{name}: not described")
        elif not kind and not variadic and "As in" not in text and "See" not in text:
            out.append(f"{name}: no type")
        elif not text.strip():
            out.append(f"{name}: no sentence")
        elif parameter.default is not parameter.empty:
            said = f"{kind} {text}".lower()
            if not any(word in said for word in ("default", "optional", "none", "as in", "see ")):
                out.append(f"{name}: no default")
    return out


def public_methods() -> Iterator[tuple[str, Any]]:
    """Yield every method of a public class that is ours, once, by the name where it is defined."""
    for _, one in public_callables():
        for name in dir(one) if inspect.isclass(one) else ():
            method = getattr(one, name)
            ours = (getattr(method, "__module__", None) or "").startswith("sfumato")
            if ours and inspect.isroutine(method) and not name.startswith("_"):
                yield method.__qualname__, method


METHODS = dict(public_methods())


def test_methods_are_found_where_people_look_for_them() -> None:
    assert {"Key.load", "Audit.to_html", "Perturber.fit", "Perturber.transform", "Referee.run"} <= set(METHODS)


@pytest.mark.parametrize("name", METHODS)
def test_every_parameter_of_a_public_method_has_type_default_and_a_sentence(name: str) -> None:
    assert METHODS[name].__doc__, "no docstring"
    assert problems(METHODS[name]) == []


@pytest.mark.parametrize("name", CALLABLES)
def test_every_public_parameter_has_type_default_and_a_sentence(name: str) -> None:
    assert problems(CALLABLES[name]) == []
