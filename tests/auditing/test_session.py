"""The steps of an audit, each used alone: the same results as in the whole."""

from __future__ import annotations

import numpy as np

import sfumato as sf
from sfumato.auditing.model import attack_line
from sfumato.auditing.session import AuditSession

NAMES = ["as-released", "affine", "nearest", "ridge"]


def tables() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    table = rng.normal(size=(240, 3)) + 4.0 * rng.integers(0, 3, 240)[:, None]
    return table, sf.perturb.Rotation(insecure_seed=1).fit_transform(table)


def test_steps_alone_and_in_another_order_give_what_the_whole_audit_gives() -> None:
    whole = sf.audit(*tables(), method="rdp", attacks=NAMES, clusters=[2, 3], seed=3)
    session = AuditSession(*tables(), method="rdp", seed=3)
    useful = session.utility(clusters=[2, 3])  # before any attack
    results = {row.id: result for row, result in session.attack(NAMES)}
    assert {attack_line(result) for result in results.values()} == set(whole.attacks)
    judged = session.grade()
    assert judged.grade == whole.grade
    assert whole.verdict.startswith(judged.verdict)
    assert session.privacy() == whole.privacy
    assert session.curve == whole.curve
    assert useful == whole.utility
    assert session.inversion() == whole.inverted
    assert session.questions() == whole.questions


def test_attacks_come_one_by_one_and_can_be_stopped() -> None:
    session = AuditSession(*tables())
    first = next(session.attack())
    assert first[0].id == "as-released"
    assert len(session.results) == 1
    assert "A" <= session.grade(curve=False).grade <= "F"


def test_a_session_shows_nothing_of_its_tables() -> None:
    session = AuditSession(*tables())
    assert str(tables()[0][0, 0])[:8] not in repr(session)
