"""Streams and variates: seekable, separate, and of the right law."""

from __future__ import annotations

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from sfumato.core import variates
from sfumato.core.keys import Key
from sfumato.core.rows import RecordIds, RowRange
from sfumato.core.stream import Streams, release_streams

WORDS = RowRange(0, 400_000).words(b"k" * 32)


@given(st.integers(0, 10_000), st.integers(0, 200), st.integers(0, 200))
def test_a_row_has_the_same_word_wherever_a_block_begins(start: int, skip: int, length: int) -> None:
    whole = RowRange(start, start + skip + length).words(b"s" * 32)
    assert (RowRange(start + skip, start + skip + length).words(b"s" * 32) == whole[skip:]).all()
    assert (RowRange(start, start + skip + length).part(skip, skip + length).words(b"s" * 32) == whole[skip:]).all()


def test_words_are_the_counter_mode_key_stream_of_aes() -> None:
    cipher = Cipher(algorithms.AES(b"s" * 32), modes.CTR(bytes(16))).encryptor()
    expected = np.frombuffer(cipher.update(bytes(160)), dtype="<u8")
    assert (RowRange(0, 20).words(b"s" * 32) == expected).all()


def test_far_rows_are_one_seek_away() -> None:
    assert len(RowRange(10**15, 10**15 + 3).words(b"s" * 32)) == 3


def test_streams_differ_by_key_release_method_parameters_table_purpose_and_column() -> None:
    key = Key(bytes(32))
    base = {"release": "r0", "method": "adp", "parameters": {"scale": 0.1}, "table": b"t"}
    changes = [{}, {"release": "r1"}, {"method": "mdp"}, {"parameters": {"scale": 0.2}}, {"table": b"u"}]
    rows = RowRange(0, 2)
    drawn = [tuple(release_streams(key, **{**base, **change}).words("noise", "a", rows)) for change in changes]
    streams = release_streams(key, **base)
    drawn += [tuple(streams.words("noise", "b", rows)), tuple(streams.words("other", "a", rows))]
    drawn += [tuple(streams.child("inner").words("noise", "a", rows)), tuple(streams.scalars("noise", "a", 2))]
    drawn += [tuple(release_streams(Key(b"1" * 32), **base).words("noise", "a", rows))]
    assert len(set(drawn)) == len(drawn)
    assert drawn[0] == tuple(release_streams(key, **base).words("noise", "a", rows))


def test_rows_of_one_person_share_their_words_in_any_order() -> None:
    ids = ["ann", "bob", "ann", "cy"]
    words = RecordIds.of(ids, subkey=bytes(32)).words(b"s" * 32)
    assert words[0] == words[2]
    assert len({int(w) for w in words}) == 3
    turned = RecordIds.of(ids[::-1], subkey=bytes(32))
    assert (turned.words(b"s" * 32) == words[::-1]).all()
    assert (turned.part(1, 3).words(b"s" * 32) == words[::-1][1:3]).all()


def test_streams_show_and_pickle_nothing() -> None:
    import pickle

    streams = Streams(bytes(range(32)))
    assert "0x" not in repr(streams)
    assert repr(streams) == "Streams(<hidden>)"
    with pytest.raises(TypeError):
        pickle.dumps(streams)


@pytest.mark.parametrize(
    ("draw", "law"),
    [
        (variates.uniform, stats.uniform()),
        (variates.symmetric_uniform, stats.uniform(-1, 2)),
        (variates.normal, stats.norm()),
        (variates.laplace, stats.laplace()),
        (variates.arcsine, stats.arcsine(-0.5, 1)),
    ],
)
def test_variates_have_their_law(draw, law) -> None:
    values = draw(WORDS)
    assert stats.kstest(values, law.cdf).pvalue > 1e-3
    assert abs(stats.spearmanr(values[:-1], values[1:]).statistic) < 0.01


def test_table_variates_agree_with_the_exact_functions() -> None:
    # words that reach every octave of the tail, both signs
    rng = np.random.default_rng(0)
    shifts = rng.integers(12, 64, 20_000).astype(np.uint64)
    words = np.concatenate(
        [WORDS[:20_000] >> (shifts - np.uint64(12)), WORDS[:20_000], np.arange(0, 5, dtype=np.uint64)]
    )
    v = ((words >> np.uint64(12)).astype(float) + 0.5) * 2.0**-53
    sign = np.where(words & np.uint64(1), -1.0, 1.0)
    assert np.abs(variates.normal(words) + sign * special.ndtri(v)).max() < 7e-10
    assert np.abs(variates.laplace(words) + sign * np.log(2 * v)).max() < 7e-10
    assert np.abs(variates.arcsine(words) - sign * np.cos(np.pi * v) / 2).max() < 7e-10


def test_extreme_words_stay_inside_the_open_range() -> None:
    ends = np.array([0, 1, 2**64 - 1, 2**64 - 2], dtype=np.uint64)
    for draw, bound in ((variates.uniform, 1.0), (variates.symmetric_uniform, 1.0), (variates.arcsine, 0.5)):
        values = draw(ends)
        assert (np.abs(values) < bound).all() or draw is variates.arcsine
        assert (np.abs(values) <= bound).all()
    assert (variates.uniform(ends) > 0).all()
    assert np.isfinite(variates.normal(ends)).all()
    assert np.isfinite(variates.laplace(ends)).all()


def test_bernoulli_and_permutation() -> None:
    assert abs(variates.bernoulli(WORDS, 0.05).mean() - 0.05) < 0.002
    assert sorted(variates.permutation(WORDS[:100]).tolist()) == list(range(100))
