"""The papers' data are found, checked and, when missing, described."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from sfumato.exceptions import DataError
from sfumato.papers import data_folder, datasets, draw_points, papers, read_dataset, read_numbers
from sfumato.papers.anc import read_adult
from sfumato.papers.chaotic import read_family
from sfumato.papers.one_d import read_table


def test_every_file_that_a_paper_needs_is_described():
    for paper in papers():
        for file in paper.files:
            entry = datasets()[file]
            assert len(entry.sha256) == 64
            assert entry.rows > 100
            assert entry.citation


def test_a_missing_file_is_named_with_its_rows_columns_and_source(tmp_path):
    with pytest.raises(DataError) as caught:
        read_dataset("wine.csv", tmp_path)
    text = str(caught.value)
    for part in (
        "wine.csv: no such file",
        "178 rows",
        "14 columns",
        "alcohol",
        "proline",
        "doi:10.24432/C5PC7J",
        "SHA-256",
    ):
        assert part in text


def test_another_table_under_the_right_name_is_refused(tmp_path):
    (tmp_path / "wine.csv").write_text("alcohol\n1\n")
    with pytest.raises(DataError, match="not the table that the paper used"):
        read_dataset("wine.csv", tmp_path)


def test_without_a_folder_the_error_says_how_to_name_one(monkeypatch, tmp_path):
    monkeypatch.delenv("SFUMATO_DATA", raising=False)
    with pytest.raises(DataError, match="--data FOLDER"):
        data_folder()
    monkeypatch.setenv("SFUMATO_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(DataError, match="nowhere"):
        data_folder()
    monkeypatch.setenv("SFUMATO_DATA", str(tmp_path))
    assert data_folder() == tmp_path


@pytest.mark.data
def test_packed_and_unpacked_files_are_the_same_table(data_folder, tmp_path):
    (tmp_path / "adult.csv").write_bytes(gzip.decompress((data_folder / "adult.csv.gz").read_bytes()))
    assert read_adult(tmp_path).tolist() == read_adult(data_folder).tolist()


@pytest.mark.data
def test_the_tables_have_the_shapes_that_the_papers_say(data_folder):
    assert read_family("census", data_folder).shape == (1080, 13)
    assert read_family("housing", data_folder).shape == (506, 15)
    assert read_family("tarragona", data_folder).shape == (834, 13)
    assert read_family("wages", data_folder).shape == (534, 11)
    assert read_table("wine", data_folder).shape == (178, 13)
    assert read_table("bcw", data_folder).shape == (683, 10)
    assert read_table("shuttle", data_folder).shape == (58000, 9)
    assert read_adult(data_folder).shape == (30725, 2)
    assert read_numbers("chameleon_t7_10k.csv", data_folder).shape == (10000, 4)


def test_the_layouts_have_the_papers_numbers_of_points_and_the_same_points_each_time():
    for k in range(2, 7):
        assert draw_points("gdtm", k).shape == (6000, 2)
        assert draw_points("ina", k).shape == (10000, 2)
        assert (draw_points("ina", k) == draw_points("ina", k)).all()
    assert (draw_points("gdtm", 3, seed=1) != draw_points("gdtm", 3, seed=2)).all()


@pytest.mark.parametrize(("k", "variance"), [(2, (116.0, 293.9)), (4, (177.2, 455.9)), (6, (292.2, 451.0))])
def test_the_layouts_have_the_variances_that_make_the_tables_reachable(k, variance):
    drawn = np.mean([draw_points("gdtm", k, seed=seed).var(axis=0) for seed in range(5)], axis=0)
    assert drawn == pytest.approx(variance, rel=0.03)


def test_a_disc_layout_stays_inside_its_ellipse():
    points = draw_points("gdtm", 2)[:2925]
    cov = np.array([[17.04, 0.38], [0.38, 102.89]])
    apart = points - [55.43, 79.16]
    length = np.einsum("ij,jk,ik->i", apart, np.linalg.inv(cov), apart)
    assert length.max() <= 4.0 + 1e-9  # a disc of radius 2 has variance 1 in each direction
    assert (length > 3.6).mean() == pytest.approx(0.1, abs=0.02)
