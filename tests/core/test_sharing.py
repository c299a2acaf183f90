"""Work shared among threads: in order, one pool deep, as many as the process may use."""

from __future__ import annotations

import os
import queue
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest

from sfumato.cluster.lattice_kmeans import Asked, likely_centres, likely_centres_of
from sfumato.core import plans, sharing, system
from sfumato.core.passes import stop_if_asked, stoppable
from sfumato.core.sharing import one_blas_thread, share, shared_by, threads_here
from sfumato.core.system import granted, processors
from sfumato.core.tiles import in_order


def test_results_come_in_order_and_long_work_is_begun_first() -> None:
    begun = []
    together = threading.Barrier(2)

    def work(item):
        begun.append(item)
        if item >= 8:
            together.wait(60)  # two of them run at the same time, or this never ends
        return -item

    with shared_by(2):
        assert share(work, list(range(10)), largest_first=float) == [-item for item in range(10)]
    assert set(begun[:2]) == {8, 9}
    assert threads_here() == processors()


def test_results_wait_for_their_turn_where_long_work_is_begun_first() -> None:
    begun = []

    def work(item):
        begun.append(item)
        if item == 7:
            raise ValueError(item)
        return -item

    results = in_order([5, 1, 7, 9], work, 2, largest_first=float)
    assert [next(results), next(results)] == [-5, -1]
    with pytest.raises(ValueError, match="7"):
        next(results)
    assert begun[0] == 9


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_work_that_nobody_waits_for_any_more_stops_in_the_middle(error: type[BaseException]) -> None:
    begun, finished = threading.Event(), []

    def work(item: int) -> None:
        if item == 0:
            begun.wait()
            raise error
        begun.set()
        for _ in range(10_000_000):
            stop_if_asked()
        finished.append(item)

    with shared_by(2), pytest.raises(error):
        share(work, [0, 1])
    assert finished == []


def test_what_has_not_begun_when_nobody_waits_any_more_is_left_undone() -> None:
    done: list[int] = []
    first = threading.Event()
    tasks: list[Any] = []

    def begin() -> None:
        with sharing.Workers(1) as workers:
            tasks.append(workers.submit(lambda: (first.set(), time.sleep(0.2))))
            tasks.extend(workers.submit(done.append, item) for item in range(3))
            first.wait()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        begin()
    assert done == []
    assert all(task.done() for task in tasks), "and nobody waits for it without end"


def test_memory_is_what_the_control_group_grants(tmp_path, monkeypatch) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    monkeypatch.setattr(system, "_CGROUP", tmp_path)
    monkeypatch.setattr(system, "_own_group", lambda: "/a/b")
    whole = system.memory()
    (inner / "memory.max").write_text("max\n")
    assert system.memory() == whole
    (tmp_path / "a" / "memory.max").write_text("1048576\n")
    assert system.memory() == 1 << 20


def test_pools_inside_pools_do_not_multiply() -> None:
    lock, inside, most = threading.Lock(), set(), []

    def inner(_):
        with lock:
            inside.add(threading.get_ident())
            most.append(len(inside))
        time.sleep(0.001)
        with lock:
            inside.discard(threading.get_ident())
        return threads_here()

    def outer(_):
        return share(inner, range(20))

    with shared_by(3):
        assert share(outer, range(6)) == [[1] * 20] * 6
    assert 1 < max(most) <= 3


@pytest.mark.parametrize("kind", ["share", "in order", "plans"])
def test_threads_that_have_nothing_else_to_do_help_inside_what_others_do(kind) -> None:
    together = threading.Barrier(3)

    def meet(item):
        together.wait(60)  # three do it at the same time, or this breaks
        return -item

    def plan():
        found = yield [plans.Task(1.0, lambda item=item: meet(item)) for item in range(6)]
        return found

    def outer(item):
        if item:
            return item
        if kind == "plans":
            return plans.share_plans([plan()])[0]
        return share(meet, range(6)) if kind == "share" else list(in_order(range(6), meet, 1, largest_first=float))

    with shared_by(3):
        assert share(outer, range(4)) == [[0, -1, -2, -3, -4, -5], 1, 2, 3]


def test_errors_inside_shared_work_come_in_order_and_nested_work_ends() -> None:
    def fails(item):
        if item % 3:
            raise ValueError(str(item))
        return item

    def deep(level):
        return sum(share(deep, [level - 1] * 3)) if level else 1

    with shared_by(4), pytest.raises(ValueError, match=r"^1$"):
        share(lambda _: share(fails, range(9)), range(5))
    with shared_by(5):
        assert share(deep, [4, 3, 5]) == [81, 27, 243]


def test_the_first_error_counts_and_stopping_reaches_every_thread() -> None:
    def fails(item):
        raise ValueError(str(item))

    with shared_by(4), pytest.raises(ValueError, match=r"^0$"):
        share(fails, range(9))

    def stop():
        raise KeyError

    with stoppable(stop), shared_by(4), pytest.raises(KeyError):
        share(lambda _: stop_if_asked(), range(9))


def test_blas_has_its_threads_back_when_the_last_one_leaves() -> None:
    from threadpoolctl import threadpool_info

    def now():
        return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]

    before = now()
    with one_blas_thread():
        with one_blas_thread():
            pass
        assert set(now()) == {1}
    assert now() == before


def test_limits_of_control_groups_count_all_the_way_up(tmp_path) -> None:
    group = tmp_path / "a" / "b"
    group.mkdir(parents=True)
    (group / "cpu.max").write_text("max 100000\n")
    assert granted(tmp_path, "/a/b") > 1000
    (tmp_path / "a" / "cpu.max").write_text("250000 100000\n")
    assert granted(tmp_path, "/a/b") == 3
    (group / "cpu.max").write_text("50000 100000\n")
    assert granted(tmp_path, "/a/b") == 1
    (tmp_path / "a" / "cpu.max").write_text("nonsense\n")
    assert granted(tmp_path, "/a") > 1000


def test_a_bound_process_has_only_its_processors(monkeypatch) -> None:
    """The system's calls are emulated: some know nothing of binding, and no machine need have so many processors."""
    monkeypatch.setattr(system, "granted", lambda _root, _group: 1000)
    monkeypatch.setattr(os, "cpu_count", lambda: 12)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: {3, 5, 8}, raising=False)
    assert processors() == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    assert processors() == 12
    monkeypatch.setattr(system, "granted", lambda _root, _group: 2)
    assert processors() == 2


@pytest.mark.parametrize("threads", [1, 2, 16])
def test_naming_many_clusterings_side_by_side_finds_the_same(threads) -> None:
    rng = np.random.default_rng(5)
    steps = np.rint(1000 * rng.normal(size=(3, 900)) + 4000 * rng.integers(0, 3, 900))
    asked = [Asked(steps, k, rng.integers(0, 1 << 63, 24 * k, dtype=np.uint64), 8, part=200) for k in (2, 5, 3, 7)]
    with shared_by(threads):
        together = likely_centres_of(asked)
    for one, (centres, doubt) in zip(asked, together, strict=True):
        alone = likely_centres(one.steps, one.k, one.words, starts=8, part=200)
        assert np.array_equal(alone[0], centres)
        assert alone[1] == doubt


def test_libraries_have_one_thread_of_their_own_wherever_work_is_shared() -> None:
    # more of them, beside other work, wait for one another in a loop: an audit of seconds took minutes
    import sklearn.cluster  # noqa: F401
    from threadpoolctl import threadpool_info, threadpool_limits

    def theirs(_: object = None) -> set[int]:
        return {library["num_threads"] for library in threadpool_info()}

    with threadpool_limits(limits=2):
        with shared_by(3):
            assert [theirs(), *share(theirs, [0, 1, 2])] == [{1}] * 4
        assert theirs() == {2}


@pytest.mark.parametrize("first", [0, 1])
def test_nobody_waits_for_a_thread_that_has_died(monkeypatch: pytest.MonkeyPatch, first: int) -> None:
    """Memory may be missing for a thread's own first or next step, and then it ends without a word."""
    served: list[int] = []

    class Queue:
        def __init__(self) -> None:
            self._inner: Any = queue.SimpleQueue()

        def put(self, task: Any) -> None:
            self._inner.put(task)

        def get(self) -> Any:
            served.append(0)
            task = self._inner.get()
            if len(served) > first and task is not None:
                raise MemoryError
            return task

    monkeypatch.setattr(sharing, "SimpleQueue", Queue)
    monkeypatch.setattr(sharing, "_TURN", 0.05)
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)

    def plan(x: int) -> Any:
        (square,) = yield [plans.Task(1.0, lambda: x * x)]
        return square

    def ended(*_: Any) -> None:
        pass

    uses: list[Any] = [
        lambda: sharing.share(abs, list(range(9))),
        lambda: list(in_order(range(9), abs, 2)),
        lambda: plans.share_plans([plan(x) for x in range(9)], ended),
    ]
    begun = time.monotonic()
    for use in uses:
        served.clear()
        with sharing.shared_by(2), pytest.raises(MemoryError):
            use()
    assert time.monotonic() - begun < 20
