"""The retail domain of this repository, and cases to play in it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from fc_eval.domains.load import load_domain
from fc_eval.domains.protocol import Domain
from fc_eval.records.case import Case, Context, Dimension, Golden

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "fixtures"


@cache
def retail() -> Domain:
    """The retail domain, read once."""
    return load_domain(FIXTURES)


def case(name: str = "a-case") -> Case:
    """A case of the id *name* that asks for nothing."""
    return Case(
        id=name,
        dimension=Dimension.D3,
        category="none",
        instruction="-",
        context=Context(db_fixture="standard", notes="-"),
        golden=Golden(calls=(), order_sensitive=False, allowed_extra=()),
        negative=True,
        skip=False,
        skip_reason=None,
    )
