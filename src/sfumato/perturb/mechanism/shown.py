"""A method as a notebook shows it: what it does, what it was told, who breaks it; no secret and no cell."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

from sklearn import get_config

from sfumato.perturb.catalogue.entries import Method

_STYLE = (
    "<style>.sfumato-method{font:14px/1.5 system-ui,sans-serif;max-width:46em}"
    ".sfumato-method table{border-collapse:collapse}.sfumato-method p{margin:.2em 0 .6em}"
    ".sfumato-method th{text-align:left;font-weight:600;vertical-align:top;padding:.15em 1em .15em 0}"
    ".sfumato-method td{text-align:left;padding:.15em 0}</style>"
)
_LONGEST = 120


class Shown:
    """Mixin that shows a perturber in a notebook; scikit-learn's own page has no room for what breaks it."""

    def _repr_html_(self) -> str:
        own: Any = self
        row: Method = own.catalogue_row()
        said = {name: value for name, value in own.get_params(deep=False).items() if value is not None}
        key, release = said.pop("key", None), said.pop("release", "r0")
        fitted = own.__sklearn_is_fitted__()
        names = own._fitted_state().facts.names if fitted else ()
        lines = [
            ("state", f"fitted to {len(names)} column(s): {', '.join(names)}" if fitted else "not fitted"),
            ("release", f"{release!r}, key {getattr(key, 'fingerprint', 'made at each fit')}"),
            ("parameters", ", ".join(_told(row, said)) or "defaults"),
            ("rows", {"row": "each by itself", "group": "in groups", "table": "the whole table at once"}[own.tier]),
            ("the owner", "gets the originals back with the key" if row.invertible else "cannot undo it"),
            ("undone by someone who knows", _broken(row)),
        ]
        body = "".join(f"<tr><th scope='row'>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in lines)
        title = f"<p><strong>{escape(row.name)}</strong> [{escape(row.id)}]: {escape(row.summary)}</p>"
        return f"<div class='sfumato-method'>{_STYLE}{title}<table>{body}</table></div>"

    def _repr_mimebundle_(self, **_kwargs: Any) -> dict[str, str]:
        shown = {"text/plain": repr(self)}
        if get_config()["display"] == "diagram":
            shown["text/html"] = self._repr_html_()
        return shown


def _told(row: Method, said: dict[str, Any]) -> Iterable[str]:
    """Yield the parameters that are not at their defaults; secret ones show themselves as hidden."""
    usual = {parameter.name: parameter.default for parameter in row.parameters}
    for name, value in said.items():
        if repr(value) == repr(usual.get(name)):
            continue
        text = " ".join(repr(value).split())
        yield f"{name}={text if len(text) <= _LONGEST else text[:_LONGEST] + '...'}"


def _broken(row: Method) -> str:
    nobody = "what breaks the method inside" if row.wraps else "no attack of ours, which is no proof"
    return "; ".join(one.text for one in row.known_breaks[:3]) or nobody
