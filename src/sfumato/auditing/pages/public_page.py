"""The public summary: the grade and what the release is good for. No parameters, attacks, columns or originals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato.auditing.grading import MEANINGS
from sfumato.auditing.pages.audit_page import grades_section
from sfumato.auditing.pages.utility_page import utility_section
from sfumato.report.blocks import Block, Headline, Page, Paragraph, Section

if TYPE_CHECKING:
    from sfumato.auditing.claimed import Claimed
    from sfumato.auditing.model import Audit


def public_page(audit: Audit) -> Page:
    """Return the public page of an audit."""
    if audit.claim is not None:
        return _claimed_page(audit.claim)
    words = f"This release was attacked before it was published, and got grade {audit.grade}."
    top: list[Block] = [Headline(audit.grade, words, MEANINGS[audit.grade])]
    if not audit.trustworthy:
        top.append(
            Paragraph("The audit behind this summary cannot be trusted: one of its own checks failed.", "warning")
        )
    if audit.insecure_seed:
        top.append(Paragraph("This release was made for tests and protects nothing.", "warning"))
    left_out = (
        "The owner's report holds the attacks one by one, the columns and the settings of the method. They would help "
        "someone who wants to undo the release, so they are not shown here. A grade says which of the known attacks "
        "failed; it proves nothing about others."
    )
    return Page(
        f"Summary of a release: grade {audit.grade}",
        f"{audit.n_rows:,} rows. For everybody.",
        tuple(top),
        (
            utility_section(audit.utility),
            grades_section(),
            Section("What this summary leaves out", (Paragraph(left_out),)),
        ),
    )


def _claimed_page(claim: Claimed) -> Page:
    """Return the page of a release with a formal guarantee: grade, rows and utility are of the table, without noise."""
    left_out = (
        "What attacks get of the release and what it is good for was measured on the table itself, without noise. "
        "Telling it would be outside the guarantee, so it is left to the owner. What stands here was measured on a "
        "made-up table."
    )
    proof = f"The proof, and what the guarantee does not cover: {claim.proof}."
    return Page(
        "Summary of a release with a guarantee",
        "For everybody.",
        (Paragraph(claim.words, "warning" if claim.status == "exceeded" else "plain"), Paragraph(proof)),
        (Section("What this summary leaves out", (Paragraph(left_out),)),),
    )
