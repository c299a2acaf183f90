"""The audit as plain text, for terminals and logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sfumato.auditing.model import AttackLine, Audit
    from sfumato.auditing.utility.result import Utility

_DEARER = 0.01  # a rescaling that costs so much more than none is warned of
_TOLD = 0.05  # columns whose cells are equal so much more often than guessed are listed


def percent(value: float | None) -> str:
    """Return a share as a percentage, or a dash.

    Examples
    --------
    >>> percent(0.1234), percent(None)
    ('12.3 %', '-')
    """
    return "-" if value is None else f"{value:.1%}".replace("%", " %")


def render_text(audit: Audit) -> str:
    """Return the audit as text."""
    lines = [
        f"Grade {audit.grade}: {audit.verdict}",
        f"{audit.n_rows:,} rows, {len(audit.columns)} columns" + (f", method {audit.method}" if audit.method else ""),
    ]
    if audit.whole is not None:
        from sfumato.auditing.pages.whole_page import whole_lines  # which imports from here

        lines += whole_lines(audit.whole)
    if not audit.trustworthy:
        lines.append("THIS AUDIT CANNOT BE TRUSTED: a canary did not behave (see below).")
    if audit.insecure_seed:
        lines.append("Made with insecure_seed: anyone can find the noise by trying seeds.")
    lines += ["", "Attacks (less recovered is better)"]
    lines += [_attack(line) for line in audit.attacks if line.rate is not None]
    if audit.strongest:
        lines += ["", "Strongest of each cost (chosen on half of the records, measured on the other half, both ways)"]
        lines += [_attack(line) for line in audit.strongest]
    if audit.exposed:
        lines += ["", "People who stand alone"] + [f"  {group.words}" for group in audit.exposed]
    if audit.shadows is not None:
        lines += ["", "Shadow releases"] + [f"  {line}" for line in audit.shadows.lines]
    if audit.found_nothing:
        lines += ["", "Ran and found nothing"] + [f"  {text}" for text in audit.found_nothing]
    if audit.did_not_run:
        lines += ["", "Did not run (that is not the same as safe)"] + [f"  {text}" for text in audit.did_not_run]
    lines += ["", "Records known -> share of the others recovered"]
    lines += [f"  {point.known:>6,}  {percent(point.recovered):>8}  {point.attack}" for point in audit.curve.points]
    broken = audit.curve.breaks_at
    lines.append(f"  breaks at {broken:,} known records" if broken else "  no break point found")
    lines += ["", "Inversion first", f"  best inversion: {audit.inverted.attack}, {audit.inverted.known} known records"]
    lines.append(
        f"  linked to the nearest row: {percent(audit.inverted.linked_as_released)} as released, "
        f"{percent(audit.inverted.linked_inverted)} after inversion"
    )
    lines.append(
        f"  cells within 5 % of a standard deviation: {percent(audit.inverted.disclosed_as_released)} as released, "
        f"{percent(audit.inverted.disclosed_inverted)} after inversion"
    )
    if audit.questions:
        lines += ["", "The regulators' questions (against people who are not in the release; less is better)"]
        after = {one.question: one for one in audit.inverted.questions}
        for one in audit.questions:
            later = f", after inversion {percent(after[one.question].rate)}" if one.question in after else ""
            lines.append(f"  {one.question:13} {percent(one.rate):>8} against {percent(one.control)}{later}")
    privacy = audit.privacy
    lines += ["", "Privacy"]
    lines.append(f"  residual security, median column (more is better): {_number(privacy.median_residual)}")
    lines.append(
        f"  weakest column: {_number(privacy.min_residual)}; the papers' mSec: {_number(privacy.min_security)}"
    )
    lines.append(f"  rows released as they are: {percent(privacy.unchanged_rows)}")
    told = [f"  {column.words}" for column in audit.equality if column.lift_low > _TOLD]
    lines += ["  columns that are equal more often than guessed:", *told] if told else []
    if audit.utility is not None:
        lines += ["", f"Utility (k-means on {audit.utility.rows_measured:,} rows; less is better)"]
        lines.append(f"  misclassified beyond a re-run, mean over k: {percent(audit.utility.excess_mean)}")
        if audit.utility.excess_low is not None:
            between = f"{percent(audit.utility.excess_low)} to {percent(audit.utility.excess_high)}"
            lines.append(f"  measured again from other starts: {between}")
        if audit.utility.cost_mean is not None:
            lines.append(f"  {cost_words(audit.utility.cost_mean)}")
        lines += [f"  {line}" for line in rescaling_lines(audit.utility)]
        lines.append(f"  with shared starts, worst k: {percent(audit.utility.shared_max)}")
        lines.append("  k   release   re-run of the original   shared starts")
        for row in utility_rows(audit.utility):
            lines.append(f"  {row[0]}  {row[1]:>8}  {row[2]:>22}  {row[3]:>14}")
    if audit.whole is not None and audit.whole.utility is not None:
        from sfumato.auditing.pages.mixed_utility_page import mixed_lines  # which imports from here

        lines += mixed_lines(audit.whole.utility)
    lines += ["", "Canaries"]
    for canary in audit.canaries:
        state = "too few rows" if canary.passed is None else "as expected" if canary.passed else "FAILED"
        lines.append(f"  {canary.name}: {state} ({canary.expected}; measured {percent(canary.figure)})")
    lines += ["", f"Effort: {audit.effort}"] + [f"  left out: {text}" for text in audit.left_out]
    lines += [f"note: {note}" for note in audit.notes]
    return "\n".join(lines) + "\n"


def cost_words(ratio: float) -> str:
    """Return what the centres of a release whose rows belong to nobody are worth.

    Examples
    --------
    >>> cost_words(1.0234)
    "centres found on the release and applied to the original cost 1.023 times the best (k-means' cost, mean over k)"
    """
    words = "centres found on the release and applied to the original cost"
    return f"{words} {ratio:.3f} times the best (k-means' cost, mean over k)"


def rescaling_lines(utility: Utility) -> list[str]:
    """Return what each of the miner's own rescalings costs, and what to tell the miner where it costs something."""
    from sfumato.auditing.utility.rescaling import OWN

    lines = []
    for name, cost in utility.rescaled.items():
        how, advice = OWN[name]
        told = f"; tell the miner: {advice}" if cost > (utility.excess_mean or 0.0) + _DEARER else ""
        lines.append(f"if the miner rescales the release by its own {how}: {percent(cost)}{told}")
    return lines


def utility_rows(utility: Utility) -> list[tuple[str, str, str, str]]:
    """Return for each k, in the headline scaling: misclassified in the release, in a re-run, with shared starts."""
    shared = {
        row.k: row.misclassification.mean
        for row in utility.agreements
        if row.start == "shared" and row.scaling == "owner" and row.misclassification is not None
    }
    return [
        (str(one.k), percent(one.release), percent(one.floor), percent(shared.get(one.k)))
        for one in utility.excesses
        if one.scaling == utility.headline_scaling
    ]


def _attack(line: AttackLine) -> str:
    known = f"{line.known:,} known" if line.known else "none known"
    return (
        f"  rung {line.rung}  {line.id:15} {percent(line.rate):>8} [{percent(line.low)}, {percent(line.high)}]"
        f"  guessing {percent(line.baseline)}, control {percent(line.control)}, {known}"
    )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
