"""`CaseV1`: one line of a suite, an instruction and the golden tool behaviour."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from fc_eval.records.codec import JsonValue, digest, from_plain, to_plain


class Dimension(StrEnum):
    """What a case measures."""

    D1 = "D1"
    """Tool selection."""
    D2 = "D2"
    """Parameter fill."""
    D3 = "D3"
    """Invocation: call only when a call is due."""
    D4 = "D4"
    """Chain: request, then confirm or abort."""


class ParamRule(StrEnum):
    """How an actual parameter is compared with its golden value."""

    EXACT = "exact"
    NORMALIZED_STR = "normalized_str"
    NORMALIZED_DATE = "normalized_date"
    CONTAINS = "contains"
    ANY = "any"


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenCall:
    """One call that a case asks for.

    `param_rules` is None where the line has no such field; a parameter without a rule is `exact`.
    """

    tool: str
    params: Mapping[str, JsonValue]
    param_rules: Mapping[str, ParamRule] | None = None

    def rule(self, name: str) -> ParamRule:
        """The rule of the top-level parameter *name*."""
        return (self.param_rules or {}).get(name, ParamRule.EXACT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Golden:
    """The calls that a case asks for, and how strictly.

    `allowed_extra` is None where the case leaves the default whitelist in place; `()` is strict.
    """

    calls: tuple[GoldenCall, ...]
    order_sensitive: bool
    allowed_extra: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Where a case plays, and a note for the reader."""

    db_fixture: str
    notes: str


class AnyCase(Protocol):
    """What every kind of case has, be it a line of a suite or an entry of a benchmark.

    `digest` changes when anything does that a verdict on the case rests on. `dimension` is None
    where the kind has no dimensions.
    """

    @property
    def id(self) -> str: ...  # noqa: D102 - the class says it
    @property
    def digest(self) -> str: ...  # noqa: D102
    @property
    def dimension(self) -> Dimension | None: ...  # noqa: D102
    @property
    def category(self) -> str: ...  # noqa: D102
    @property
    def instruction(self) -> str: ...  # noqa: D102
    @property
    def skip(self) -> bool: ...  # noqa: D102
    @property
    def skip_reason(self) -> str | None: ...  # noqa: D102


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One `CaseV1` line."""

    id: str
    dimension: Dimension
    category: str
    instruction: str
    context: Context
    golden: Golden
    negative: bool
    skip: bool
    skip_reason: str | None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Case:
        """Read the JSON object of a case line.

        Only shapes are checked; what makes a line a valid case is asked in `fc_eval.cases`.

        Raises:
            ValueError: A field is missing, has another type, or is none of a case's.
        """
        unknown = sorted(set(data) - set(cls.__slots__))
        if unknown:
            raise ValueError(f"a case has no field {unknown[0]!r}")
        return from_plain(cls, data)

    def to_dict(self) -> dict[str, Any]:
        """The JSON object of the line; the inverse of `from_dict`."""
        plain: dict[str, Any] = to_plain(self)
        golden = plain["golden"]
        if golden["allowed_extra"] is None:
            del golden["allowed_extra"]
        for call in golden["calls"]:
            if call["param_rules"] is None:
                del call["param_rules"]
        return plain

    @property
    def digest(self) -> str:
        """SHA-256 of the case's canonical JSON text; it changes when any field does."""
        return digest(self.to_dict())
