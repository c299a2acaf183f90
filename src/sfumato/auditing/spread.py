"""The attacks of an audit in processes beside this one: a search as wide as the machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sfumato.attack.engine.elsewhere import ELSEWHERE
from sfumato.core.errands.processes import Errands
from sfumato.core.passes import stop_if_asked
from sfumato.core.sharing import threads_here
from sfumato.core.system import memory

if TYPE_CHECKING:
    from sfumato.auditing.session import AuditSession

_BYTES = 64  # of memory for each cell of a table that an attack looks at: each has a few copies of its own
_LONG = {"views": 6, "row-numbers": 6, "fellegi-sunter": 3, "look-up": 2, "invariants": 2, "forward": 2}  # begin first
_WORTH = 1 << 17  # cells of a table whose attacks take longer than processes need to begin


def side_by_side(cells: int) -> int:
    """Return how many attacks run at the same time: as many as there are threads, and as memory has room for.

    Parameters
    ----------
    cells : int
        Of the table.
    """
    return max(1, min(threads_here(), memory() // (_BYTES * max(1, cells))))


def how_long(attack: str) -> int:
    """Return about how long an attack takes beside others.

    Parameters
    ----------
    attack : str
        Its id.
    """
    return _LONG.get(attack, 0)


@contextmanager
def spread_out(session: AuditSession) -> Iterator[None]:
    """Let the attacks of a session run in other processes, where there are many threads and much to do.

    Parameters
    ----------
    session : AuditSession
    """
    cells = session.tables.original.size
    threads = side_by_side(cells) if cells >= _WORTH else 0
    here = session.referees
    with Errands(ELSEWHERE, lambda: here.told, here, threads, stop_if_asked) as errands:
        errands.begin(threads)
        session.errands = errands
        try:
            yield
        finally:
            session.errands = None
