"""Settings: a method with parameters, as the catalogue proposes it, as its paper ran it, or as a search found it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from sfumato.core.keys import Key
from sfumato.perturb.catalogue import method, methods
from sfumato.perturb.catalogue.entries import Method

Source = Literal["default", "paper", "search", "policy"]

KMEANS = (2, 3, 4, 5, 6, 7, 8)  # the numbers of clusters that matter unless someone says otherwise


@dataclass(frozen=True)
class Setting:
    """A method with parameters.

    Attributes
    ----------
    method : str
        Id in the catalogue.
    parameters : mapping
        What differs from the defaults.
    source : str
        "default", "paper" (the paper's own parameters), "search" or "policy" (what a policy says).
    inner : Setting or None
        For a wrapper, what it wraps.
    """

    method: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    source: Source = "default"
    inner: Setting | None = None

    @property
    def label(self) -> str:
        """A short name for tables and charts."""
        wrapped = f"{self.inner.method} " if self.inner is not None else ""
        return f"{wrapped}{self.method}" + (f" ({self.source})" if self.source in {"paper", "policy"} else "")

    def given(self, name: str, value: Any) -> Setting:
        """Return the setting with a value for a parameter, if its method has one of that name and nobody has set it.

        Examples
        --------
        >>> Setting("mdav").given("group_size", 4).parameters, Setting("mdav").given("scale", 1.0).parameters
        ({'group_size': 4}, {})
        """
        has = any(parameter.name == name for parameter in method(self.method).parameters)
        if not has or name in self.parameters:
            return self
        return replace(self, parameters={**self.parameters, name: value})

    @property
    def hurried(self) -> Setting:
        """The same with the catalogue's quick values where nobody has set others, for a first look."""
        setting = self if self.inner is None else replace(self, inner=self.inner.hurried)
        for name, value in method(self.method).quick.items():
            setting = setting.given(name, value)
        return setting

    @property
    def public(self) -> dict[str, Any]:
        """The parameters that may be shown: secret ones never are."""
        secret = {parameter.name for parameter in method(self.method).parameters if parameter.secret}
        return {name: value for name, value in self.parameters.items() if name not in secret}

    @property
    def words(self) -> str:
        """The parameters in words."""
        drawn = any(parameter.secret for parameter in method(self.method).parameters)
        shown = [
            f"{name} = {value:.4g}" if isinstance(value, float) else f"{name} = {value}"
            for name, value in self.public.items()
        ]
        if len(self.public) < len(self.parameters):
            shown.append("the paper's own values")
        elif not shown:
            shown.append("drawn by the key" if drawn and self.inner is None else "defaults")
        if self.inner is not None and self.inner.parameters:
            shown.append(f"{self.inner.method}: {self.inner.words}")
        return ", ".join(shown)


def catalogue_settings(names: Sequence[str] | None = None, clusters: Sequence[int] = KMEANS) -> list[Setting]:
    """Return every method as the catalogue proposes it, then with its paper's parameters where they differ.

    Parameters
    ----------
    names : sequence of str, optional
        Ids or class names of the methods; None takes all.
    clusters : sequence of int
        Numbers of clusters that matter; methods that keep named clusterings are told.

    Examples
    --------
    >>> [setting.label for setting in catalogue_settings(["ina", "chaotic"])]
    ['chaotic', 'ina', 'chaotic (paper)']
    """
    chosen = None if names is None else {method(name).id for name in names}
    rows = [row for row in methods() if chosen is None or row.id in chosen]
    proposed = [Setting(row.id, {}, "default", _inner(row)) for row in rows]
    printed = []
    for row in rows:
        own = {parameter.name: parameter.default for parameter in row.parameters}
        differs = {name: value for name, value in row.paper_parameters.items() if own[name] != value}
        if differs:
            printed.append(Setting(row.id, differs, "paper", _inner(row)))
    return [keeping(setting, clusters) for setting in proposed + printed]


def keeping(setting: Setting, clusters: Sequence[int]) -> Setting:
    """Return the setting with the numbers of clusters that matter, if its method keeps named clusterings."""
    return setting if tuple(clusters) == KMEANS else setting.given("clusterings", tuple(clusters))


def _inner(row: Method) -> Setting | None:
    return Setting(row.inner) if row.wraps else None


def make_perturber(setting: Setting, key: Key, release: str = "r0") -> Any:
    """Return the perturber of a setting."""
    row = method(setting.method)
    given = dict(setting.parameters)
    if row.wraps:
        assert setting.inner is not None
        given["perturber"] = make_perturber(setting.inner, key, release)
    return row.load()(**given, key=key, release=release)
