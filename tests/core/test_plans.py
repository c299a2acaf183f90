"""Plans: tasks of several steps, shared among threads; and how rows are cut up for many threads."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from sfumato.attack.engine.neighbours import RowIndex
from sfumato.auditing.order.correspondence import order_by_digits
from sfumato.core.plans import Task, share_plans
from sfumato.core.sharing import shared_by, sharing_here
from sfumato.core.tiles import pieces_for, tile_rows


def _sum_of_squares(numbers):
    assert (yield []) == []  # a step without tasks
    squares = yield [Task(float(n), lambda n=n: n * n) for n in numbers]
    (total,) = yield [Task(1.0, lambda: sum(squares))]
    return total, squares


@pytest.mark.parametrize("threads", [1, 2, 16])
def test_every_plan_comes_to_its_own_end(threads) -> None:
    told = []
    with shared_by(threads):
        found = share_plans(
            [_sum_of_squares([3, 1, 2]), _sum_of_squares([5])], lambda at, done: told.append((at, done))
        )
    assert found == [(14, [9, 1, 4]), (25, [25])]
    assert sorted(at for at, _ in told) == [0, 1]
    assert [done for _, done in told] == [1, 2]


def test_nobody_waits_for_another_plan_between_steps() -> None:
    second_step = threading.Event()

    def slow():
        yield [Task(1.0, lambda: second_step.wait(60))]  # ends when the other plan is in its second step
        return "slow"

    def quick():
        yield [Task(9.0, lambda: None)]
        yield [Task(9.0, second_step.set)]
        return sharing_here()  # inside shared work there is one thread

    with shared_by(2):
        assert share_plans([slow(), quick()]) == ["slow", 1]


@pytest.mark.parametrize("threads", [1, 4])
def test_an_error_of_a_task_a_plan_or_who_is_told_stops_all(threads) -> None:
    def failing():
        yield [Task(1.0, lambda: 1 // 0)]

    def broken():
        yield [Task(1.0, lambda: None)]
        raise LookupError

    def stop(_at, _done):
        raise KeyboardInterrupt

    with shared_by(threads):
        with pytest.raises(ZeroDivisionError):
            share_plans([failing(), _sum_of_squares([1])])
        with pytest.raises(LookupError):
            share_plans([broken()])
        with pytest.raises(KeyboardInterrupt):
            share_plans([_sum_of_squares([1]), _sum_of_squares([2])], stop)


@pytest.mark.parametrize("rows", [1, 13_107, 100_000, 1_000_000, 4_000_000])
@pytest.mark.parametrize("threads", [1, 2, 4, 8, 16])
def test_many_threads_have_equal_shares_in_few_pieces(rows, threads) -> None:
    size = tile_rows(20)
    pieces = pieces_for(rows, size, threads)
    assert [start for start, _ in pieces] == [0, *(stop for _, stop in pieces[:-1])]
    assert pieces[-1][1] == rows
    if threads > 4 and rows >= threads * size:
        longest = max(stop - start for start, stop in pieces)
        assert len(pieces) % threads == 0
        assert longest <= 1 << 17


def test_row_numbers_in_low_digits_are_found_among_many_rows() -> None:
    draw = np.random.default_rng(5)
    numbers = draw.permutation(5_000)
    table = np.round(draw.normal(size=(5_000, 3)), 2)
    assert order_by_digits(table + draw.normal(size=table.shape)) is None
    table[:, 1] += numbers * 1e-6
    assert np.array_equal(order_by_digits(table), numbers)


def test_nearest_rows_are_the_same_by_products_and_by_a_tree() -> None:
    rows = np.random.default_rng(6).normal(size=(1_500, 13))
    rows[7] = rows[8] = rows[9]
    apart, near = RowIndex(rows).nearest(np.arange(1_500), 3)
    exact = np.sqrt(((rows[:200, None] - rows[None]) ** 2).sum(axis=2))
    assert np.allclose(apart[:200], np.sort(exact, axis=1)[:, :3], atol=1e-12)
    assert (apart[7:10] == 0.0).all()
    assert np.array_equal(near[20:200], np.argsort(exact, axis=1)[20:, :3])
