"""BFCL v4: its own entries, and its own scoring, beside the case suite of a project.

People quote BFCL numbers, and ports of it drift. The scoring here is held against the official
checker on ground truths and thousands of mutations of them; see `tests/bfcl`.
"""

from __future__ import annotations

from fc_eval.bfcl.entries import PIPELINES, SUBSETS, BfclEntry, load_entries
from fc_eval.bfcl.error_types import ErrorType
from fc_eval.bfcl.score import BfclScore, score

__all__ = [
    "PIPELINES",
    "SUBSETS",
    "BfclEntry",
    "BfclScore",
    "ErrorType",
    "load_entries",
    "score",
]
