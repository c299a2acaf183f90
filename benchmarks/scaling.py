# ruff: noqa: E501 - the lines of the page are as long as its sentences
"""Writes docs/scaling.md: what a release costs, from the catalogue and from the measured results."""

from __future__ import annotations

from typing import Any

from sfumato.perturb.catalogue import methods

__all__ = ["scaling_page"]

_TABLE_TIER, _GROUP_TIER = "gathers the table", "gathers it up to 32 million cells"


def scaling_page(results: dict[str, Any]) -> str:
    """Return the page.

    Parameters
    ----------
    results : dict
        What `benchmarks/run.py` has measured, by section.
    """
    return "\n".join(
        [
            _HEAD,
            *_methods(results.get("kernels")),
            _GROWTH,
            *_growth(results.get("large")),
            *_cores(results.get("cores")),
            _FURTHER,
        ]
    )


def _methods(kernels: dict[str, Any] | None) -> list[str]:
    measured: dict[str, list[Any]] = {}
    for row in kernels["rows"] if kernels else []:
        measured.setdefault(row[0].split(",")[0], row)
    lines = ["| method | id | passes at most | memory beside the batch | whole job against a copy | with [fast] |"]
    lines.append("|---|---|---:|---|---:|---:|")
    for method in methods():
        row = measured.get(method.name)
        cost = [f"{row[5]:.1f}", f"{row[6]:.1f}"] if row else ["", ""]
        memory = {"table": _TABLE_TIER, "group": _GROUP_TIER}.get(method.tier, "summaries")
        lines.append(f"| `{method.name}` | `{method.id}` | {method.passes} | {memory} | {' | '.join(cost)} |")
    return lines


def _growth(large: dict[str, Any] | None) -> list[str]:
    if not large:
        return ["Not measured yet: `make bench BENCH='--only large'`."]
    lines = ["| rows | file MB | seconds | million rows a second | peak MB |", "|---:|---:|---:|---:|---:|"]
    for rows, size, seconds, speed, peak in large["rows"]:
        lines.append(f"| {rows:,} | {size:,.0f} | {seconds:.1f} | {speed:.2f} | {peak:.0f} |")
    lines += [
        "",
        *(f"{claim['what'][0].upper()}{claim['what'][1:]}: {claim['value']:.2f}." for claim in large["claims"]),
    ]
    return lines


def _cores(cores: dict[str, Any] | None) -> list[str]:
    if not cores:
        return ["", "## Cores", "Not measured yet: `make bench BENCH=cores`.", "", _CHOOSE]
    head = ["", "## Cores, measured", f"{cores['note']} Measured on {cores['measured']}, load average {cores['load']}."]
    lines = [*head, "", "| " + " | ".join(cores["columns"]) + " |", "|---|" + "---:|" * (len(cores["columns"]) - 1)]
    for name, seconds, *others in cores["rows"]:
        cells = ["" if one is None else f"{one:.2f}" for one in (seconds, *others)]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return [*lines, "", _CHOOSE]


_CHOOSE = """`make bench BENCH=cores` prints the same for the machine at hand. How to choose: leave `threads` alone, which takes all
processors that the process may use, and give fewer where something else has to run beside it. Rows and attacks are shared out in
whole pieces, results never depend on how many, and work inside work does not multiply. Methods that add noise to rows go on to the speed of memory.
Attacks and trials are much Python, and threads of Python wait for one another: for more than four threads `compare`, `tune` and
audits of 131,072 cells or more share them among processes, each of which takes a few seconds of a processor to begin.
Memory grows with threads by a few tiles each, and in audits by a few copies of the table for every attack that runs beside others;
processes look at one copy of the tables themselves."""
_HEAD = """# Scaling

Made by `make bench` from the catalogue and from measured results; see [benchmarks](benchmarks.md) for the machine.

## What a release costs
A release of a file reads it once for a first look (types, decimals, ranges, a keyed fingerprint), once for every round of
summaries that the method asks for, and once to write. So

    seconds = passes x (reading + parsing) + writing + shuffling + cells x cost of the kernel

- *Passes* are in the table: the first look and the last pass are counted. Columns with missing cells take one more. Atom
  mixing takes up to eight more for each draw that it tries on tables of up to 4,096 rows, which are read quickly.
- *Reading and parsing* are those of polars; batches are shared among the cores, and results do not depend on how many.
- *Shuffling* by the key writes the released rows to the disk once more and reads them back (sorted runs of 32 MB). Without a
  shuffle (`shuffle=False`) a release needs no more disk than itself.
- *The kernel* costs a few copies of the table in memory; with the extra `[fast]` less. The last two columns are the whole of
  `fit_transform` in memory, in units of copying the table.
- *Memory* is a few batches and the method's summaries, whatever the size of the file. Methods of the table tier need each
  row's neighbours and hold all confidential columns: 8 bytes a cell, several times over. Those of the group tier hold 8 bytes a
  cell once, up to 32 million cells; rows of larger tables wait on the disk, sealed, until their group has come together.
- Atom mixing names its clusterings on a keyed sample of 100,000 rows, so from there on it grows by its passes alone. Of the first
  32 million cells it keeps what a pass has made of them, 8 bytes each, until they are released; the next pass goes on there.
"""
_GROWTH = """
## Growth, measured
Folders of Parquet files with ten columns, additive noise, shuffled by the key, two threads.
"""
_FURTHER = """
## Further
- *More cores on one machine*: `threads=` or `n_jobs=` of releases, perturbers, audits, `compare` and `tune` (all that the process
  may use by default; limits of control groups count). Batches are independent; the shuffle sorts its
  buckets side by side.
- *More machines*: [Spark](spark.md), with the same bytes. A pass is one job over the partitions; summaries of a few kilobytes
  to megabytes come back to the driver.
- *Less disk*: write Parquet instead of CSV. `shuffle=False` saves the copy that the shuffle makes, but then the order of the
  rows tells who is who: use it only if the rows of the file stand in random order already.
- *Several owners*: [collaboration](collaboration.md), each on a machine of their own.
"""
