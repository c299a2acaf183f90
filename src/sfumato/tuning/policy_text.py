"""A found setting as a policy file, ready for `sfumato release --policy`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sfumato.policy.model import Enhance, Guard, Limits, MethodChoice, Policy
from sfumato.policy.text import policy_text
from sfumato.tuning.settings import KMEANS, Setting
from sfumato.tuning.subject import Subject
from sfumato.tuning.trial import draws_rows


def tuned_policy(
    subject: Subject,
    setting: Setting,
    *,
    max_misclassification: float,
    min_grade: Any,
    clusters: Sequence[int] = KMEANS,
    base: Policy | None = None,
) -> str:
    """Return a policy that releases the table with a setting, and refuses a release that misses the limits.

    An audit measures 2 to 8 clusters. A limit that was found for other numbers of clusters is not one for the audit, so
    it is left out, and a comment says so.

    Parameters
    ----------
    clusters : sequence of int
        Numbers of clusters for which the limit was met.
    base : Policy, optional
        The policy that asked for it: what it says of columns and of the release stays.
    """
    base = Policy() if base is None else base
    usual = tuple(clusters) == KMEANS
    wrapped = setting.inner if setting.inner is not None else setting
    clusterings = list(setting.parameters.get("clusterings", KMEANS))
    columns = {"identifier": [*subject.identifier, *subject.text], "keep": list(subject.keep)}
    limits = {"max_misclassification": max_misclassification if usual else None, "min_grade": min_grade}
    policy = base.model_copy(
        update={
            "columns": base.columns.model_copy(update=columns),
            "column": {name: rules for name, rules in base.column.items() if name in subject.names},
            "method": MethodChoice(name=wrapped.method, **_plain(wrapped)),
            "enhance": Enhance(fraction=setting.parameters["fraction"]) if setting.method == "+rho" else None,
            "guard": Guard(kmeans=clusterings) if setting.method == "guard" else None,
            "detail": None,
            # a release that goes out only if an audit likes it tells of the rows, and no guarantee would cover it
            "audit": None if draws_rows(setting) else (base.audit or Limits()).model_copy(update=limits),
        }
    )
    told = ["# written by sfumato tune; check the columns before you release"]
    if subject.text:
        what = "free text or identifiers" if subject.kinds else "not numeric"
        told.append(f"# {what}, so dropped unless you move them to keep: {', '.join(map(repr, subject.text))}")
    if draws_rows(setting):
        told.append(
            "# these parameters were chosen by looking at the rows, which the guarantee does not cover: docs/dp.md"
        )
    if not usual and not draws_rows(setting):
        listed = ", ".join(map(str, clusters))
        told.append(
            f"# max_misclassification = {max_misclassification:g} was met for {listed} clusters; audits measure 2 to 8"
        )
    return "\n".join(told) + "\n" + policy_text(policy)


def _plain(setting: Setting) -> dict[str, Any]:
    """Return parameters as TOML can say them; None means what leaving it out means."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in setting.public.items()
        if value is not None
    }
