"""The reference of the Python interface: a page for each public name, made from its docstring and its signature."""

from __future__ import annotations

import importlib
import inspect
from types import ModuleType
from typing import Any

#: the public packages, as CONTRIBUTING.md names them
PACKAGES = ("", "perturb", "attack", "metrics", "cluster", "datasets", "spark", "exceptions")
Pages = dict[str, str]


def dotted(package: str) -> str:
    """Return the full name of a package."""
    return f"sfumato.{package}" if package else "sfumato"


def public_names() -> dict[str, list[str]]:
    """Return the public names of each package by its full name, in the order of `__all__`."""
    return {dotted(package): list(importlib.import_module(dotted(package)).__all__) for package in PACKAGES}


def page_of(package: str, name: str) -> str:
    """Return the page of a name. `Audit` and `audit` are one file on some systems, so the class goes elsewhere.

    Examples
    --------
    >>> page_of("sfumato", "audit"), page_of("sfumato", "Audit"), page_of("sfumato", "perturb")
    ('sfumato.audit', 'sfumato.Audit-class', 'sfumato.perturb')
    """
    others = [one for one in public_names()[package] if one != name and one.lower() == name.lower()]
    return f"{package}.{name}" + ("-class" if others and name[0].isupper() else "")


def python_pages() -> Pages:
    """Return the pages by their paths: an overview, one page for each package, one for each name."""
    pages: Pages = {}
    for package, names in public_names().items():
        module = importlib.import_module(package)
        pages[f"{package}.rst"] = package_page(package, module, names)
        for name in names:
            one = getattr(module, name)
            if not isinstance(one, ModuleType):  # a package has its page already
                pages[f"{page_of(package, name)}.rst"] = name_page(package, name, one)
    pages["index.rst"] = overview(public_names())
    return pages


def overview(packages: dict[str, list[str]]) -> str:
    """Return the page that lists the packages."""
    lines = [
        title("Python"),
        "Every public name, with its signature, its defaults and what it is for. What is not listed here is private.",
        "",
    ]
    for package in packages:
        about = first_line(importlib.import_module(package))
        lines.append(f"- :doc:`{package} </reference/python/{package}>`: {about}")
    return "\n".join([*lines, "", toctree(list(packages))])


def package_page(package: str, module: ModuleType, names: list[str]) -> str:
    """Return the page of a package: what it is, and a table of its names."""
    lines = [title(package), inspect.cleandoc((module.__doc__ or "").partition("Examples\n")[0]), ""]
    lines += [".. list-table::", "   :widths: 35 65", ""]
    for name in sorted(names, key=str.lower):
        one = getattr(module, name)
        target = page_of(package, name)
        lines += [f"   * - :doc:`{name} </reference/python/{target}>`", f"     - {first_line(one)}"]
    return "\n".join([*lines, ""])


def name_page(package: str, name: str, one: Any) -> str:
    """Return the page of a class, a function or a value.

    It is found from its package, not from the list on the left, which would be long and make the build slow.
    """
    target = f"{package}.{name}"
    lines = [":orphan:", "", title(name), f"In :doc:`{package} </reference/python/{package}>`.", ""]
    if inspect.isclass(one):
        lines += [f".. autoclass:: {target}"]
        members = own_members(one)
        if members:
            lines += ["   :members: " + ", ".join(members)]
    elif callable(one):
        lines += [f".. autofunction:: {target}"]
    else:
        lines += [f".. autodata:: {target}", "   :no-value:" if len(repr(one)) > 200 else ""]
    return "\n".join([*lines, ""])


def own_members(one: type) -> list[str]:
    """Return the public methods and properties of a class that sfumato wrote and described, inherited ones too."""
    found = []
    for name, member in inspect.getmembers(one):
        function = member.fget if isinstance(member, property) else member
        if name.startswith("_") or not callable(function) or inspect.isclass(function):
            continue
        if str(getattr(function, "__module__", "")).startswith("sfumato") and inspect.getdoc(function):
            found.append(name)
    return found


def first_line(one: Any) -> str:
    """Return the first sentence of a docstring; what a value is, if it has none of its own."""
    own = one.__doc__ if isinstance(one, ModuleType) or callable(one) else None
    if not own:
        return f"A value: {type(one).__name__}."
    return " ".join(inspect.cleandoc(own).partition("\n\n")[0].split())


def title(text: str) -> str:
    """Return a heading."""
    return f"{text}\n{'=' * len(text)}\n"


def toctree(pages: list[str]) -> str:
    """Return what puts pages below this one."""
    return "\n".join([".. toctree::", "   :hidden:", "", *(f"   {page}" for page in pages), ""])
