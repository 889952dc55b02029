"""What the judge says of one trace."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from fc_eval.records.codec import JsonValue, to_plain


class Verdict(StrEnum):
    """The judge's answer."""

    PASS = "PASS"
    FAIL = "FAIL"
    SKIP = "SKIP"
    AGENT_ERROR = "AGENT_ERROR"


class Taxonomy(StrEnum):
    """The deterministic failure classes, in their order of precedence."""

    TOOL_HALLUCINATED = "TOOL_HALLUCINATED"
    TOOL_WRONG = "TOOL_WRONG"
    CHAIN_INCOMPLETE = "CHAIN_INCOMPLETE"
    CHAIN_DISCONNECTED = "CHAIN_DISCONNECTED"
    CALL_MISSING = "CALL_MISSING"
    ORDER_WRONG = "ORDER_WRONG"
    PARAM_MISSING = "PARAM_MISSING"
    PARAM_WRONG_FORMAT = "PARAM_WRONG_FORMAT"
    PARAM_HALLUCINATED_ID = "PARAM_HALLUCINATED_ID"
    PARAM_WRONG_VALUE = "PARAM_WRONG_VALUE"
    PARAM_UNEXPECTED = "PARAM_UNEXPECTED"
    CALL_UNEXPECTED = "CALL_UNEXPECTED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mismatch:
    """One reason of a FAIL.

    `path` says where: `calls[0].order_id` is parameter `order_id` of golden call 0,
    `calls[0]` the golden call itself, `actual[2]` the actual call 2 that golden has no place for.
    """

    path: str
    code: str
    golden: JsonValue = None
    actual: JsonValue = None
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The verdict on one trace, and what it rests on.

    `taxonomies` are unique and in order of precedence; `taxonomy` is the first of them, or None.
    `warnings` are notes for a reader that never change the verdict.
    """

    verdict: Verdict
    taxonomies: tuple[str, ...] = ()
    diff: tuple[Mismatch, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def taxonomy(self) -> str | None:
        """The primary code, or None where there is none."""
        return self.taxonomies[0] if self.taxonomies else None

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values, with the primary code as `taxonomy`."""
        plain: dict[str, Any] = to_plain(self)
        return {"verdict": plain["verdict"], "taxonomy": self.taxonomy, **plain}
