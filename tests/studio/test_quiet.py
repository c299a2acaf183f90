"""The tests' own patience: a wait that cannot end is given up, and one for a studio at work is not."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from playwright.sync_api import Error, Page

from tests.studio import quiet
from tests.studio.running import RunningStudio


def test_a_wait_that_cannot_end_is_given_up(
    studio: RunningStudio, open_page: Callable[[RunningStudio], Page], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quiet, "_LOOK", 0.2)
    monkeypatch.setattr(quiet, "_LOOKS", 5)
    page = open_page(studio)
    with pytest.raises(Error, match="the studio has had nothing to do for 1 seconds"):
        page.wait_for_selector("#what-never-comes")


def test_a_process_at_work_is_waited_for() -> None:
    own = quiet.QuietStudio(os.getpid())
    for _ in range(quiet._LOOKS):
        begin = sum(os.times()[:2])
        while sum(os.times()[:2]) - begin < 2 * quiet._AT_WORK:
            pass
        assert not own.look()
    assert [own.look() for _ in range(quiet._LOOKS)][-1]
