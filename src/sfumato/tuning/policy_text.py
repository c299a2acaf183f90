"""A found setting as a policy file: strict TOML without secrets, ready for `sfumato release --policy`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.tuning.settings import Setting
from sfumato.tuning.subject import Subject

__all__ = ["policy_text"]

# wrapper -> (section of the policy, parameter -> its name there)
_SECTIONS: dict[str, tuple[str, dict[str, str]]] = {
    "+rho": ("enhance", {"fraction": "fraction"}),
    "guard": ("guard", {"clusterings": "kmeans"}),
}
_GUARDED = (2, 3, 4, 5, 6, 7, 8)


def policy_text(subject: Subject, setting: Setting, *, max_misclassification: float, min_grade: str) -> str:
    """Return a policy that releases the table with a setting, and refuses a release that misses the limits.

    Parameters
    ----------
    subject : Subject
    setting : Setting
    max_misclassification : float
    min_grade : str
    """
    lines = ["# written by sfumato tune; check the columns before you release", "", "[columns]"]
    dropped = (*subject.identifier, *subject.text)
    if subject.text:
        lines.append(f"# not numeric, so dropped unless you move them to keep: {', '.join(map(_quoted, subject.text))}")
    lines += [f"identifier = {_value(list(dropped))}", f"keep = {_value(list(subject.keep))}", ""]
    wrapper = _SECTIONS.get(setting.method)
    core = setting.inner if wrapper is not None and setting.inner is not None else setting
    lines += ["[method]", f"name = {_value(core.method)}", *_entries(core.public), ""]
    if wrapper is not None:
        section, names = wrapper
        given = {names[name]: value for name, value in setting.public.items() if name in names}
        if section == "guard":
            given.setdefault("kmeans", _GUARDED)
        lines += [f"[{section}]", *_entries(given), ""]
    lines += ["[audit]", f"max_misclassification = {_value(max_misclassification)}", f"min_grade = {_value(min_grade)}"]
    return "\n".join(lines) + "\n"


def _entries(parameters: Mapping[str, Any]) -> list[str]:
    # None stands for "let the method choose", which a policy says by saying nothing
    return [f"{name} = {_value(value)}" for name, value in parameters.items() if value is not None]


def _value(value: Any) -> str:
    r"""Return a value as TOML.

    Examples
    --------
    >>> _value(True), _value(0.5), _value('a"b'), _value(("x", 2))
    ('true', '0.5', '"a\\"b"', '["x", 2]')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, int | float):
        return repr(value)
    assert isinstance(value, Sequence)
    return "[" + ", ".join(_value(item) for item in value) + "]"


def _quoted(text: str) -> str:
    # JSON's escapes are TOML's, but for the DEL character, which JSON leaves as it is
    return json.dumps(text).replace("\x7f", "\\u007f")
