"""The search on spaces whose best point is known, and held-out repetitions on winners that are luck."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

import sfumato as sf
from sfumato.core.sharing import shared_by
from sfumato.exceptions import DataError
from sfumato.perturb.mechanism.parameters import Options, Span, check_parameter
from sfumato.tuning.held_out import confirm
from sfumato.tuning.search import Score, merit, search
from sfumato.tuning.space import Candidate, candidates, neighbours, setting_of


class Known:
    """A made-up space: more of the first share hides more and costs more, and `limit` allows a share of 0.6."""

    def __init__(self, noise: float = 0.0) -> None:
        self.noise = noise
        self.calls = {"cheap": 0, "quick": 0, "closer": 0, "thorough": 0}

    def _excess(self, candidate: Candidate) -> float:
        return 0.0 if candidate.method == "weak" else candidate.place[0] / 10

    def cheap(self, candidate: Candidate) -> tuple[float, float]:
        self.calls["cheap"] += 1
        if candidate.method == "not here":
            raise DataError("it does not apply")
        lucky = np.random.default_rng(int(1e9 * sum(candidate.place))).normal() * self.noise
        return max(0.0, self._excess(candidate) + lucky), sum(candidate.place)

    def quick(self, candidate: Candidate) -> Score:
        self.calls["quick"] += 1
        return Score(self.cheap(candidate)[0], *self._hidden(candidate))

    def closer(self, candidate: Candidate) -> float:
        self.calls["closer"] += 1
        return self._excess(candidate)

    def thorough(self, candidate: Candidate) -> Score:
        self.calls["thorough"] += 1
        return Score(self._excess(candidate), *self._hidden(candidate))

    def _hidden(self, candidate: Candidate) -> tuple[str, float]:
        return ("F", 0.0) if candidate.method == "weak" else ("B", candidate.place[0])


def source(count: int = 40):
    rng = np.random.default_rng(0)
    for _ in range(count):
        yield Candidate("strong", (float(rng.random()),))
        yield Candidate("not here", (0.5,))
    yield Candidate("weak", ())


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_the_search_finds_the_best_point_within_the_limit(noise: float) -> None:
    space = Known(noise)
    found = search(source(), space, limit=0.06, time_left=lambda: 1.0, most=81)
    best, score = found.finalists[0]
    assert best.method == "strong"
    assert score.excess <= 0.06
    assert score.residual > 0.5, "a share of 0.6 is the best there is"
    assert found.counts.not_applicable == 40
    assert space.calls["thorough"] == len(found.finalists) < space.calls["closer"] < space.calls["quick"]


def test_any_number_of_threads_finds_the_same() -> None:
    found = []
    for threads in (1, 5, 16):
        with shared_by(threads):
            found.append(search(source(), Known(0.01), limit=0.06, time_left=lambda: 1.0, most=81))
    assert found[0] == found[1] == found[2]


def test_a_candidate_that_loses_nothing_keeps_a_seat_among_the_finalists() -> None:
    found = search(source(), Known(), limit=0.0, time_left=lambda: 1.0, most=81)
    assert Candidate("weak", ()) in [candidate for candidate, _ in found.finalists]


def test_the_budget_ends_the_search_and_the_finalists_still_run() -> None:
    left = iter(np.linspace(1.0, -5.0, 400))
    found = search(source(200), Known(), limit=0.06, time_left=lambda: float(next(left)))
    assert 32 <= found.counts.cheap < 150
    assert found.finalists


def test_a_slow_machine_still_looks_at_every_method_and_attacks_some() -> None:
    found = search(source(200), Known(), limit=0.06, time_left=lambda: -1.0)
    assert found.counts.cheap == 32
    assert found.counts.quick >= 16
    assert found.finalists


def test_merit_puts_the_limit_before_the_grade_and_the_grade_before_security() -> None:
    scores = [Score(0.02, "A", 0.9), Score(0.01, "B", 0.1), Score(0.0, "C", 0.8), Score(0.01, "B", 0.2)]
    ranked = sorted(scores, key=lambda score: merit(score, 0.01))
    assert ranked == [scores[3], scores[1], scores[2], scores[0]]


def test_a_winner_that_is_luck_is_found_out_and_the_next_one_wins() -> None:
    lucky, sound = Candidate("lucky", (0.1,)), Candidate("sound", (0.2,))
    finalists = [(lucky, Score(0.0, "A", 0.9)), (sound, Score(0.008, "B", 0.3))]

    def repeat(candidate: Candidate, number: int) -> Score:
        # the search's key suited the first by chance: with others it loses the clusters
        return Score(0.05, "A", 0.9) if candidate is lucky else Score(0.009, "B", 0.3)

    first, second = confirm(finalists, repeat, limit=0.01, min_grade=None, repetitions=3)
    assert not first.holds
    assert first.search.excess == 0.0
    assert [score.excess for score in first.held_out] == [0.05]
    assert second.holds
    assert len(second.held_out) == 3


def test_one_bad_repetition_is_enough_and_grades_count() -> None:
    only = [(Candidate("x", ()), Score(0.0, "B", 0.3))]
    scores = [Score(0.0, "B", 0.3), Score(0.0, "C", 0.3), Score(0.0, "B", 0.3)]
    by_grade = confirm(only, lambda _, number: scores[number], limit=0.01, min_grade="B", repetitions=3)[0]
    assert not by_grade.holds
    assert confirm(only, lambda _, number: scores[number], limit=0.01, min_grade="C", repetitions=3)[0].holds


def test_what_stands_behind_the_winner_is_not_repeated() -> None:
    asked = []

    def repeat(candidate: Candidate, number: int) -> Score:
        asked.append(candidate.method)
        return Score(0.0, "A", 1.0)

    pair = [(Candidate("first", ()), Score(0.0, "A", 1.0)), (Candidate("second", ()), Score(0.0, "A", 0.9))]
    found = confirm(pair, repeat, limit=0.01, min_grade=None, repetitions=2)
    assert asked == ["first", "first"]
    assert [one.holds for one in found] == [True, False]


def test_candidates_cover_every_method_and_are_allowed_values() -> None:
    some = list(islice(candidates(0), 200))
    assert {one.method for one in some} == {row.id for row in sf.methods()}
    assert some == list(islice(candidates(0), 200)), "the same seed gives the same candidates"
    assert some != list(islice(candidates(1), 200))
    rows = {row.id: row for row in sf.methods()}
    for candidate in some:
        setting = setting_of(candidate)
        allowed = {parameter.name: parameter for parameter in rows[candidate.method].parameters}
        for name, value in setting.parameters.items():
            check_parameter(allowed[name], value, owner=candidate.method)


def test_search_ranges_lie_inside_what_is_allowed_and_hold_the_default() -> None:
    for row in sf.methods():
        for parameter in row.parameters:
            assert not (parameter.secret and parameter.search), "a secret is drawn by the key, never searched"
            if isinstance(parameter.search, Span):
                if parameter.default is None:  # worked out from other parameters
                    assert parameter.optional, (row.id, parameter.name)
                else:
                    assert parameter.search.low <= parameter.default <= parameter.search.high, (row.id, parameter.name)
                for share in (0.0, 1.0):
                    value = parameter.search.at(share)
                    value = round(value) if parameter.kind == "integer" else value
                    check_parameter(parameter, value, owner=row.id)
            elif isinstance(parameter.search, Options):
                for value in parameter.search.values:
                    check_parameter(parameter, value, owner=row.id)


def test_neighbours_are_near() -> None:
    near = neighbours(Candidate("adp", (0.5, 0.01)), 8, 0)
    assert len(near) == 8
    for one in near:
        assert abs(one.place[0] - 0.5) <= 0.12
        assert 0.0 <= one.place[1] <= 0.13
