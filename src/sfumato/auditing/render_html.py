"""The audit as one self-contained page: no script, nothing from outside, readable on paper."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from sfumato.auditing.render_text import percent, utility_rows

if TYPE_CHECKING:
    from sfumato.auditing.model import AttackLine, Audit

__all__ = ["render_body", "render_html"]

_STYLE = """
.sfumato{font:15px/1.5 system-ui,sans-serif;color:#1c2430;background:#fff;max-width:62rem;margin:0 auto;padding:1rem}
.sfumato h2{font-size:1.1rem;margin:1.6rem 0 .4rem;border-bottom:1px solid #d5dbe3}
.sfumato table{border-collapse:collapse;width:100%;font-size:.88rem}
.sfumato th,.sfumato td{text-align:left;padding:.2rem .5rem;border-bottom:1px solid #e7ebf0;vertical-align:top}
.sfumato td.n,.sfumato th.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
.sfumato .grade{display:inline-block;font-size:2rem;font-weight:700;width:3.2rem;text-align:center;color:#fff;
border-radius:.4rem;margin-right:.8rem}
.sfumato .A{background:#1f7a4d}.sfumato .B{background:#4a7a1f}.sfumato .C{background:#8a6d0a}
.sfumato .D{background:#a8521a}.sfumato .F{background:#a3262a}
.sfumato .warn{background:#fdecea;border:1px solid #a3262a;padding:.5rem .8rem;border-radius:.3rem}
.sfumato .bar{height:.55rem;background:#a3262a;border-radius:.2rem;min-width:1px}
.sfumato small{color:#566172}
@media print{.sfumato{max-width:none}}
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def render_html(audit: Audit) -> str:
    """Return the whole page.

    Parameters
    ----------
    audit : Audit
    """
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>Audit: grade {audit.grade}</title></head><body>{render_body(audit)}</body></html>\n"
    )


def render_body(audit: Audit) -> str:
    """Return the page's content, for notebooks.

    Parameters
    ----------
    audit : Audit
    """
    parts = [f'<style>{_STYLE}</style><main class="sfumato">']
    parts.append(
        f'<p><span class="grade {audit.grade}">{audit.grade}</span><strong>{escape(audit.verdict)}</strong></p>'
    )
    described = f", method <code>{escape(audit.method)}</code>" if audit.method else ""
    parts.append(
        f"<p><small>{audit.n_rows:,} rows, {len(audit.columns)} columns{described}. For the owner: this page says "
    )
    parts.append("how to break the release.</small></p>")
    if not audit.trustworthy:
        parts.append('<p class="warn">This audit cannot be trusted: a canary did not behave.</p>')
    if audit.insecure_seed:
        parts.append('<p class="warn">Made with insecure_seed: anyone can find the noise by trying seeds.</p>')
    parts += [_utility(audit), _privacy(audit), _attacks(audit), _curve(audit), _inversion(audit), _canaries(audit)]
    if audit.notes:
        parts.append("<h2>Notes</h2><ul>" + "".join(f"<li>{escape(note)}</li>" for note in audit.notes) + "</ul>")
    return "".join(parts) + "</main>"


def _table(head: list[str], rows: list[list[str]], numeric: set[int]) -> str:
    def cell(tag: str, i: int, text: str) -> str:
        return f"<{tag}{' class=n' if i in numeric else ''}>{text}</{tag}>"

    top = "".join(cell("th", i, escape(text)) for i, text in enumerate(head))
    body = "".join("<tr>" + "".join(cell("td", i, text) for i, text in enumerate(row)) + "</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def _attacks(audit: Audit) -> str:
    ran = [line for line in audit.attacks if line.rate is not None]
    head = ["attack", "rung", "knows", "records recovered (less is better)", "95 % interval", "guessing", "control", ""]
    rows = [_attack_row(line) for line in ran]
    idle = "".join(f"<li>{escape(text)}</li>" for text in audit.did_not_run)
    rest = f"<p>Did not run (that is not the same as safe):</p><ul>{idle}</ul>" if idle else ""
    nothing = "".join(f"<li>{escape(text)}</li>" for text in audit.found_nothing)
    silent = f"<p>Ran and found nothing:</p><ul>{nothing}</ul>" if nothing else ""
    return "<h2>Attacks</h2>" + _table(head, rows, {1, 3, 5, 6}) + silent + rest


def _attack_row(line: AttackLine) -> list[str]:
    knows = f"{line.known:,} people" if line.known else line.cost
    return [
        f"{escape(line.name)} <small>{escape(line.id)}</small>",
        str(line.rung),
        escape(knows),
        percent(line.rate),
        f"{percent(line.low)} to {percent(line.high)}",
        percent(line.baseline),
        percent(line.control),
        f'<div class="bar" style="width:{6 * max(0.0, line.lift or 0.0):.2f}rem"></div>',
    ]


def _curve(audit: Audit) -> str:
    rows = [
        [f"{p.known:,}", percent(p.recovered), f"{percent(p.low)} to {percent(p.high)}", escape(p.attack)]
        for p in audit.curve.points
    ]
    broken = audit.curve.breaks_at
    text = f"The release breaks at {broken:,} known records." if broken else "No break point found."
    head = ["records known", "others recovered", "95 % interval", "by"]
    return f"<h2>Records known, share recovered</h2><p>{text}</p>" + _table(head, rows, {0, 1})


def _inversion(audit: Audit) -> str:
    found = audit.inverted
    rows = [
        ["linked to the nearest row", percent(found.linked_as_released), percent(found.linked_inverted)],
        ["cells within 5 % of a sd", percent(found.disclosed_as_released), percent(found.disclosed_inverted)],
    ]
    after = {one.question: one for one in found.questions}
    for one in audit.questions:
        later = after.get(one.question)
        rows.append(
            [
                f"{escape(one.question)} <small>control {percent(one.control)}</small>",
                percent(one.rate),
                "-" if later is None else f"{percent(later.rate)} <small>control {percent(later.control)}</small>",
            ]
        )
    text = f"Best inversion: <code>{escape(found.attack)}</code> with {found.known:,} known records."
    head = ["score (less is better)", "as released", "after inversion"]
    return f"<h2>Invert first, then score</h2><p>{text}</p>" + _table(head, rows, {1, 2})


def _privacy(audit: Audit) -> str:
    def number(value: float | None) -> str:
        return "-" if value is None else f"{value:.3f}"

    rows = [
        [escape(c.name), number(c.residual), escape(c.residual_attack or "-"), number(c.security), number(c.mean_shift)]
        for c in audit.privacy.columns
    ]
    text = (
        f"Rows released as they are: {percent(audit.privacy.unchanged_rows)}. Fewest rows that look alike: "
        f"{audit.privacy.smallest_class:,}. Residual security is what is left of a column's variance after the best "
        "attack."
    )
    head = ["column", "residual security (more is better)", "best attack", "the papers' Sec", "mean shift (sd)"]
    return f"<h2>Privacy</h2><p>{text}</p>" + _table(head, rows, {1, 3, 4})


def _utility(audit: Audit) -> str:
    useful = audit.utility
    if useful is None:
        return "<h2>Utility</h2><p>Not measured.</p>"
    text = (
        f"k-means puts {percent(useful.excess_mean)} of the rows into another cluster beyond what a re-run on the "
        f"original does (mean over k; less is better); with shared starts at most {percent(useful.shared_max)}."
    )
    head = ["k", "release", "re-run of the original", "shared starts"]
    table = _table(head, [list(row) for row in utility_rows(useful)], {0, 1, 2, 3})
    rows = f"<small>Measured on {useful.rows_measured:,} rows; misclassified rows, less is better.</small>"
    after = f" After the miner's own rescaling, the worse of two: {percent(useful.rescaled_worst)}."
    return f"<h2>Utility</h2><p>{text}{after}</p>{table}<p>{rows}</p>"


def _canaries(audit: Audit) -> str:
    rows = []
    for canary in audit.canaries:
        state = "too few rows" if canary.passed is None else "as expected" if canary.passed else "failed"
        rows.append([escape(canary.name), escape(canary.expected), percent(canary.figure), state])
    return "<h2>Canaries</h2>" + _table(["release", "expected", "measured", ""], rows, {2})
