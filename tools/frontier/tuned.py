"""The methods of the five papers over the range of each of their strengths: which of them hides most at an excess."""

from __future__ import annotations

from collections.abc import Iterator

from sfumato.perturb.catalogue import methods
from sfumato.tuning.settings import Setting

__all__ = ["LEAST_EXCESS", "MIX_AS_TUNED", "PAPERS", "tuned_settings"]

PAPERS = {"gdtm", "chaotic", "ina", "one-d", "anc"}
LEAST_EXCESS = 0.005  # so much may be chance: methods of the papers are asked for no less
MIX_AS_TUNED = "tuned mix as it comes"  # label of mix as the same miner sees it
_POINTS = 8


def tuned_settings() -> Iterator[tuple[str, Setting]]:
    """Yield (label, setting) for eight values of every parameter that a search would try, the others as they come."""
    for row in methods():
        if row.paper.id not in PAPERS:
            continue
        for parameter in row.parameters:
            span = parameter.search
            if span is None or not hasattr(span, "low"):
                continue
            for point in range(_POINTS):
                value = float(span.at(point / (_POINTS - 1)))
                value = round(value) if parameter.kind == "integer" else value
                inner = Setting(row.inner) if row.wraps else None
                label = f"tuned {row.id} {parameter.name}={value:.4g}"
                yield label, Setting(row.id, {parameter.name: value}, "search", inner)
