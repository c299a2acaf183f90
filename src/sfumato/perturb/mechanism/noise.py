"""The laws of independent noise, scaled to variance 1."""

from __future__ import annotations

from math import sqrt

# distribution -> what its variates are multiplied by for a variance of 1
UNIT_FACTORS = {"normal": 1.0, "uniform": sqrt(3.0), "laplace": sqrt(0.5)}
