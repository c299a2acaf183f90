"""Time and memory of an audit, each size in a process of its own (`audit.py` does one)."""

from __future__ import annotations

from audit import SIZES
from measure import Claim, Section, in_a_process


def measure(quick: bool) -> Section:
    section = Section(
        "Audit",
        "`sfumato.audit` of independent noise on six correlated clusters, in a process of its own; the peak holds "
        "tables and libraries too.",
        ["rows", "columns", "seconds", "peak MB", "grade"],
    )
    for rows, columns, seconds, megabytes in SIZES[:1] if quick else SIZES:
        cost = in_a_process("audit.py", rows, columns)
        section.rows.append([rows, columns, cost["seconds"], cost["peak MB"], cost["grade"]])
        section.claims += [
            Claim(f"audit of {rows:,} x {columns}", cost["seconds"], seconds, "s"),
            Claim(f"audit of {rows:,} x {columns}, peak memory", cost["peak MB"], megabytes, "MB"),
        ]
    return section
