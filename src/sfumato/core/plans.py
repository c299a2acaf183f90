"""Plans: independent work of several steps, whose tasks threads take from one another, the longest first."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from heapq import heappop, heappush
from threading import Condition
from typing import Any, NamedTuple, TypeVar

from sfumato.core.sharing import Workers, helpers_here, one_blas_thread, sharing_here, submit_alone

U = TypeVar("U")
_TURN = 1.0  # seconds after which whoever waits looks whether the threads still live


class Task(NamedTuple):
    """Some work of a plan.

    Parameters
    ----------
    size : float
        How long it takes, in any unit.
    run : callable
    """

    size: float
    run: Callable[[], Any]


Plan = Generator[Sequence[Task], list[Any], U]  # yields tasks, is sent their results in order, returns its own result


def share_plans(plans: Sequence[Plan[U]], ended: Callable[[int, int], None] | None = None) -> list[U]:
    """Return what every plan comes to, in order; tasks of all of them run side by side, the longest first.

    Unlike with `share` for every step, nobody waits at the end of a step for the slowest of other plans.

    Parameters
    ----------
    plans : sequence of generators
        Must not depend on one another.
    ended : callable, optional
        Is told by the calling thread which plan has ended, and how many have. An error of it stops all.

    Examples
    --------
    >>> def plan(x):
    ...     squares = yield [Task(1.0, lambda: x * x), Task(2.0, lambda: -x)]
    ...     (total,) = yield [Task(1.0, lambda: sum(squares))]
    ...     return total
    >>> from sfumato.core.sharing import shared_by
    >>> with shared_by(3):
    ...     share_plans([plan(2), plan(5)])
    [2, 20]
    """
    shared = _Shared(plans)
    threads = sharing_here()
    lender = helpers_here()
    if threads <= 1 and lender is not None and ended is None:
        helpers = [submit_alone(lender, lambda _: shared.help(), None) for _ in range(lender.most - 1)]
        shared.work(check=lender.check)
        for helper in helpers:
            helper.cancel()
    elif threads <= 1:
        shared.work(ended)
    else:
        with one_blas_thread(), Workers(threads) as workers:
            try:
                tasks = [submit_alone(workers, lambda _: shared.work(), None) for _ in range(threads)]
                if ended is not None:
                    shared.tell(ended, workers.check)
                for task in tasks:
                    task.result()
            except BaseException as error:  # nobody may wait for the tasks of a thread that has ended
                shared.fail(-1, error)
                raise
    return shared.results()


def together(plans: Sequence[Plan[U]]) -> Plan[list[U]]:
    """Return the plan that makes each step of several plans at once, and comes to what each comes to, in order.

    Parameters
    ----------
    plans : sequence of generators

    Examples
    --------
    >>> def plan(x):
    ...     (square,) = yield [Task(1.0, lambda: x * x)]
    ...     return square
    >>> share_plans([together([plan(2), plan(3)])])
    [[4, 9]]
    """
    ends: dict[int, U] = {}
    sent: dict[int, list[Any] | None] = dict.fromkeys(range(len(plans)))
    while sent:
        asked: dict[int, Sequence[Task]] = {}
        for number, found in sent.items():
            try:
                asked[number] = next(plans[number]) if found is None else plans[number].send(found)
            except StopIteration as over:
                ends[number] = over.value
        results = iter((yield [task for tasks in asked.values() for task in tasks])) if asked else iter(())
        sent = {number: [next(results) for _ in tasks] for number, tasks in asked.items()}
    return [ends[number] for number in range(len(plans))]


class _Shared:
    """Plans that several threads work on, each of them taking the longest task that there is."""

    def __init__(self, plans: Sequence[Plan[Any]]) -> None:
        self._plans, self._changed = plans, Condition()
        self._tasks: list[tuple[float, int, int, Task]] = []  # a heap: longest first, then those of earlier plans
        self._found: list[list[Any]] = [[] for _ in plans]
        self._missing = [0] * len(plans)
        self._ends: dict[int, Any] = {}
        self._errors: dict[int, BaseException] = {}
        for number in range(len(plans)):
            self._go_on(number, None)

    def help(self) -> None:
        """Work as long as there are tasks, and wait for none."""
        self.work(waits=False)

    def work(
        self,
        ended: Callable[[int, int], None] | None = None,
        check: Callable[[], None] = lambda: None,
        *,
        waits: bool = True,
    ) -> None:
        while True:
            with self._changed:
                while not self._tasks and not self._over and waits:
                    if not self._changed.wait(_TURN):
                        check()
                if self._over or not self._tasks:
                    return
                _, number, place, task = heappop(self._tasks)
            try:
                found = task.run()
            except BaseException as error:  # noqa: BLE001
                self.fail(number, error)
                return
            with self._changed:
                self._found[number][place] = found
                self._missing[number] -= 1
                last = self._missing[number] == 0
            if last:
                self._go_on(number, self._found[number])
                if ended is not None and number in self._ends:
                    ended(number, len(self._ends))

    def tell(self, ended: Callable[[int, int], None], check: Callable[[], None]) -> None:
        """Tell how many plans have ended until all have; `check` raises if nobody works on them any more."""
        told = 0
        while True:
            with self._changed:
                while len(self._ends) == told and not self._over:
                    if not self._changed.wait(_TURN):
                        check()
                if self._errors or len(self._ends) == told:
                    return
                told += 1
                number = list(self._ends)[told - 1]
            ended(number, told)

    def results(self) -> list[Any]:
        if self._errors:
            raise self._errors[min(self._errors)]
        return [self._ends[number] for number in range(len(self._plans))]

    @property
    def _over(self) -> bool:
        return bool(self._errors) or len(self._ends) == len(self._plans)

    def _go_on(self, number: int, found: list[Any] | None) -> None:
        """Ask a plan for its next tasks: in the thread that has done the last one, outside the lock."""
        try:
            tasks = next(self._plans[number]) if found is None else self._plans[number].send(found)
            while not tasks:
                tasks = self._plans[number].send([])
        except StopIteration as over:
            with self._changed:
                self._ends[number] = over.value
                self._changed.notify_all()
            return
        except BaseException as error:  # noqa: BLE001
            self.fail(number, error)
            return
        with self._changed:
            self._found[number], self._missing[number] = [None] * len(tasks), len(tasks)
            for place, task in enumerate(tasks):
                heappush(self._tasks, (-task.size, number, place, task))
            self._changed.notify_all()

    def fail(self, number: int, error: BaseException) -> None:
        """End all plans with an error."""
        with self._changed:
            self._errors[number] = error
            self._tasks.clear()
            self._changed.notify_all()
