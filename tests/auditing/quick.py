"""Audits that measure little, for tests of something else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import pytest

from sfumato.auditing.run import audit


@contextmanager
def two_clusters() -> Iterator[None]:
    """Let audits of files measure two clusters only: for tests of what is done with an audit, not of what it finds."""
    with pytest.MonkeyPatch.context() as patch:
        for place in ("sfumato.pipeline.audited.audit", "sfumato.cli.audit.run_audit"):
            patch.setattr(place, partial(audit, clusters=(2,)))
        yield
