"""Where the methods come from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Paper:
    """Where a method comes from."""

    id: str
    authors: str
    title: str
    venue: str
    year: int


GDTM = Paper(
    "gdtm",
    "S. R. M. Oliveira, O. R. Zaïane",
    "Geometric Data Transformation for Privacy Preserving Clustering",
    "Technical report TR 03-12, University of Alberta",
    2003,
)
CHAOTIC = Paper(
    "chaotic",
    "J. Li, Y. Xu, C.-H. Chu, Y. Wang",
    "Privacy Preserving K-means Clustering with Chaotic Distortion",
    "International Conference on Electronic Business (ICEB)",
    2007,
)
INA = Paper(
    "ina",
    "Z. Wang, Y. Zheng, H. Liao",
    "Independent Noise Algorithm for Privacy Preserving Clustering",
    "Computer Engineering (in Chinese)",
    2008,
)
ONE_D = Paper(
    "one-d",
    "Y. Cui, W. K. Wong, D. W. Cheung",
    "Privacy-Preserving Clustering with High Accuracy and Low Time Complexity",
    "Database Systems for Advanced Applications (DASFAA)",
    2009,
)
ANC = Paper(
    "anc",
    "V. Rajalakshmi, G. S. Anandha Mala",
    "Anonymization Based on Nested Clustering for Privacy Preservation in Data Mining",
    "Indian Journal of Computer Science and Engineering",
    2013,
)
HUANG = Paper(
    "huang",
    "Z. Huang, W. Du, B. Chen",
    "Deriving Private Information from Randomized Data",
    "ACM SIGMOD",
    2005,
)
LIU = Paper(
    "liu",
    "K. Liu, H. Kargupta, J. Ryan",
    "Random Projection-Based Multiplicative Data Perturbation for Privacy Preserving Distributed Data Mining",
    "IEEE Transactions on Knowledge and Data Engineering 18(1)",
    2006,
)
MDAV = Paper(
    "mdav",
    "J. Domingo-Ferrer, V. Torra",
    "Ordinal, Continuous and Heterogeneous k-Anonymity through Microaggregation",
    "Data Mining and Knowledge Discovery 11",
    2005,
)

SFUMATO = Paper(
    "sfumato",
    "the sfumato maintainers",
    "Atom mixing and the cluster guard",
    "this software, docs/guard.md",
    2026,
)
