"""Pages out of plain blocks: one self-contained HTML file without scripts, the same bytes for the same data.

This package knows no audit and no method. Whoever has something to report says it in blocks (`blocks.py`), draws its
charts (`chart.py` and the files beside it) and renders them (`page.py`).
"""
