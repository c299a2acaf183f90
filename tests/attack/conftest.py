"""Releases made with numpy alone, as the papers describe the methods: attacks must not need the perturbers."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest


def rotation(d, seed=0):
    """A chain of plane rotations, as a matrix."""
    draw = np.random.default_rng(seed)
    matrix = np.eye(d)
    for i in range(d - 1):
        angle = draw.uniform(0.3, 1.2)
        turn = np.eye(d)
        turn[np.ix_([i, i + 1], [i, i + 1])] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
        matrix = matrix @ turn
    return matrix


def translated(x, seed=0):
    return x + np.random.default_rng(seed).uniform(-2, 2, x.shape[1]) * x.std(axis=0)


def scaled(x, seed=0):
    return x * np.random.default_rng(seed).uniform(0.5, 1.9, x.shape[1])


def rotated(x, seed=0):
    return x @ rotation(x.shape[1], seed)


def hybrid(x, seed=0):
    """Shift, scale or turn: one operation per column."""
    released = np.array(x)
    draw = np.random.default_rng(seed)
    for j in range(x.shape[1]):
        if j % 3 == 0:
            released[:, j] += draw.uniform(1, 3) * x[:, j].std()
        elif j % 3 == 1:
            released[:, j] *= draw.uniform(0.6, 1.6)
        else:
            angle = draw.uniform(0.3, 1.2)
            first, second = released[:, j - 1].copy(), released[:, j].copy()
            released[:, j - 1] = first * np.cos(angle) + second * np.sin(angle)
            released[:, j] = second * np.cos(angle) - first * np.sin(angle)
    return released


def rotated_with_noisy_rows(x, share=0.1, seed=0):
    draw = np.random.default_rng(seed)
    released = rotated(x, seed)
    noisy = draw.random(len(x)) < share
    released[noisy] += draw.normal(0, 0.8, (int(noisy.sum()), x.shape[1])) * released.std(axis=0)
    return released


def orbit(x, seed=0, amplitude=0.1):
    level = np.random.default_rng(seed).random(x.shape[1])
    levels = np.empty(x.shape)
    for i in range(len(x)):
        levels[i] = level
        level = 4 * level * (1 - level)
    return x + amplitude * (levels - 0.5) * np.ptp(x, axis=0)


def arcsine(x, seed=0, amplitude=0.1):
    u = np.random.default_rng([seed, 9]).random(x.shape)
    return x + amplitude * (np.sin(np.pi * u / 2) ** 2 - 0.5) * np.ptp(x, axis=0)


def independent_noise(x, seed=0, beta=5, sample=200):
    """Noise as wide as half the lead of the nearest reference (leader clustering of a sample, range units)."""
    draw = np.random.default_rng(seed)
    width = np.ptp(x, axis=0)
    points = x / width
    radius = np.sqrt(x.shape[1]) / beta
    centres, counts = [], []
    for point in points[draw.choice(len(x), min(sample, len(x)), replace=False)]:
        distances = [np.linalg.norm(point - c) for c in centres]
        if distances and min(distances) <= radius:
            k = int(np.argmin(distances))
            counts[k] += 1
            centres[k] = centres[k] + (point - centres[k]) / counts[k]
        else:
            centres.append(point)
            counts.append(1)
    nearest = np.sort(np.linalg.norm(points[:, None] - np.array(centres)[None], axis=2), axis=1)
    half = (nearest[:, 1] - nearest[:, 0]) / 2
    return x + draw.uniform(-1, 1, x.shape) * half[:, None] * width


def interval_resampled(x, clusters=24, seed=0):
    """Every value redrawn within its one-dimensional cluster: equal intervals, nearest neighbours merged (Ward)."""
    draw = np.random.default_rng(seed)
    released = np.array(x)
    for j in range(x.shape[1]):
        edges = np.linspace(x[:, j].min(), x[:, j].max(), max(len(x) // 2, 2) + 1)
        cell = np.clip(np.searchsorted(edges, x[:, j], side="right") - 1, 0, len(edges) - 2)
        groups = [[c, c, int((cell == c).sum()), float(x[cell == c, j].mean())] for c in np.unique(cell)]
        while len(groups) > clusters:
            cost = [a[2] * b[2] * (a[3] - b[3]) ** 2 / (a[2] + b[2]) for a, b in pairwise(groups)]
            k = int(np.argmin(cost))
            a, b = groups[k], groups[k + 1]
            both = a[2] + b[2]
            groups[k : k + 2] = [[a[0], b[1], both, (a[2] * a[3] + b[2] * b[3]) / both]]
        for low, high, _, mean in groups:
            inside = (cell >= low) & (cell <= high)
            radius = max(0.0, min(mean - edges[low], edges[high + 1] - mean))
            released[inside, j] = draw.uniform(mean - radius, mean + radius, int(inside.sum()))
    return released


def grouped(x, size=3, seed=0):
    """Groups of neighbours along the first principal axis, and the group of every row."""
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    axis = np.linalg.svd(z, full_matrices=False)[2][0]
    labels = np.empty(len(x), dtype=int)
    labels[np.argsort(z @ axis)] = np.minimum(np.arange(len(x)) // size, max(len(x) // size - 1, 0))
    return labels


def centroids(x, labels):
    sums = np.zeros((labels.max() + 1, x.shape[1]))
    np.add.at(sums, labels, x)
    return (sums / np.bincount(labels)[:, None])[labels]


def additive(x, scale=0.5, seed=10**15):
    return x + scale * x.std(axis=0) * np.random.default_rng(seed).normal(size=x.shape)


def with_own_covariance(x, seed=10**15):
    return x + np.random.default_rng(seed).multivariate_normal(np.zeros(x.shape[1]), np.cov(x, rowvar=False), len(x))


def projected(x, e, seed=0):
    matrix = np.random.default_rng(seed).normal(size=(x.shape[1], e)) / np.sqrt(e)
    return x @ matrix, matrix


def people(n=300, d=4, seed=0):
    """A correlated, skewed table with two decimals."""
    draw = np.random.default_rng([seed, n, d])
    mixing = draw.normal(size=(d, d)) + 2 * np.eye(d)
    return np.round(draw.gamma(3.0, 1.0, size=(n, d)) @ mixing * 10, 2)


def ages_and_salaries(n=1500, seed=0):
    draw = np.random.default_rng(seed)
    salary = np.clip(np.round(draw.normal(45, 15, n)), 12, 120)
    return np.column_stack([draw.integers(18, 80, n), salary]).astype(float)


@pytest.fixture(scope="session")
def make():
    return SimpleNamespace(
        additive=additive,
        ages_and_salaries=ages_and_salaries,
        arcsine=arcsine,
        centroids=centroids,
        grouped=grouped,
        hybrid=hybrid,
        independent_noise=independent_noise,
        interval_resampled=interval_resampled,
        orbit=orbit,
        people=people,
        projected=projected,
        rotated=rotated,
        rotated_with_noisy_rows=rotated_with_noisy_rows,
        rotation=rotation,
        scaled=scaled,
        translated=translated,
        with_own_covariance=with_own_covariance,
    )
