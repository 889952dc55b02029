"""Does one actual value agree with its golden value under one parameter rule?

One rule, one way of comparing the strings inside a value; everything around the strings is
compared alike under every rule. Whether a parameter is there at all, fits its schema or names
something that exists is asked in `judge.check`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping
from datetime import UTC, date, datetime, timedelta, timezone
from enum import IntEnum
from typing import TypeAlias

from fc_eval.records.case import ParamRule
from fc_eval.records.codec import JsonValue
from fc_eval.records.text import nests_too_deep


class Agreement(IntEnum):
    """How far a value agrees with its golden value; a larger number is a worse fault."""

    EQUAL = 0
    OTHER_VALUE = 1
    OTHER_FORMAT = 2


LeafRule: TypeAlias = Callable[[JsonValue, str], Agreement]
"""Compares any actual value with a golden string, in this order."""


def compare(rule: ParamRule, actual: JsonValue, golden: JsonValue) -> Agreement:
    """Compare a parameter's value with its golden value.

    Lists are compared as sets: each item needs one that it agrees with on the other side, so that
    neither order nor duplicates count. Objects have the same keys, and agree key by key. Numbers
    are compared exactly, 1 with 1.0 too; booleans are no numbers. A string rule holds for the
    golden strings at any depth.

    Args:
        rule: The rule of the parameter.
        actual: The value as the model sent it, decoded from JSON.
        golden: The value that the case asks for.

    Returns:
        `OTHER_FORMAT` only under `normalized_date`, where a golden date stands against something
        that no date can be compared with, and where a value has too many levels to be compared.
    """
    if rule is ParamRule.ANY:
        return _equal_if(not is_empty(actual))
    if nests_too_deep(actual) or nests_too_deep(golden):
        return Agreement.OTHER_FORMAT
    if rule is ParamRule.EXACT:
        return _equal_if(normal_form(actual) == normal_form(golden))
    return _compare(actual, golden, _LEAF_RULES[rule])


def equal(actual: JsonValue, golden: JsonValue) -> bool:
    """Whether two values agree under `exact`."""
    return compare(ParamRule.EXACT, actual, golden) is Agreement.EQUAL


def normal_form(value: JsonValue) -> Hashable:
    """What two values have in common exactly where they agree under `exact`.

    Long lists are compared by it without comparing every item with every other. *value* must not
    be nested too deep (see `records.text.nests_too_deep`).
    """
    if isinstance(value, Mapping):
        return "object", frozenset((key, normal_form(item)) for key, item in value.items())
    if isinstance(value, list):
        return "list", frozenset(map(normal_form, value))
    # JSON has booleans beside numbers, while Python counts True as the integer 1. An integer and
    # a float that are equal have the same hash in Python, whatever their size.
    return ("boolean", value) if isinstance(value, bool) else value


def is_empty(value: JsonValue) -> bool:
    """Whether the rule `any` takes *value* for absent: null, `""`, `[]` or `{}`."""
    return value is None or (isinstance(value, str | list | Mapping) and not value)


def _compare(actual: JsonValue, golden: JsonValue, leaf: LeafRule) -> Agreement:
    if isinstance(golden, str):
        return leaf(actual, golden)
    if isinstance(golden, Mapping):
        if not isinstance(actual, Mapping):
            return Agreement.OTHER_VALUE
        return _compare_objects(actual, golden, leaf)
    if isinstance(golden, list):
        if not isinstance(actual, list):
            return Agreement.OTHER_VALUE
        return _compare_lists(actual, golden, leaf)
    return _equal_if(normal_form(actual) == normal_form(golden))


def _compare_objects(
    actual: Mapping[str, JsonValue], golden: Mapping[str, JsonValue], leaf: LeafRule
) -> Agreement:
    keys = _equal_if(actual.keys() == golden.keys())
    values = [_compare(actual[key], golden[key], leaf) for key in golden if key in actual]
    return max([keys, *values])


def _compare_lists(actual: list[JsonValue], golden: list[JsonValue], leaf: LeafRule) -> Agreement:
    if not actual or not golden:
        return _equal_if(not actual and not golden)
    # Every pair is compared once, else the work would double with each level of nesting.
    table = [[_compare(item, wanted, leaf) for wanted in golden] for item in actual]
    by_actual = max(min(row) for row in table)
    by_golden: Agreement = max(min(column) for column in zip(*table, strict=True))
    return max(by_actual, by_golden)


def _normalized_str(actual: JsonValue, golden: str) -> Agreement:
    return _equal_if(isinstance(actual, str) and _normalize(actual) == _normalize(golden))


def _normalize(text: str) -> str:
    return text.strip().lower()


def _contains(actual: JsonValue, golden: str) -> Agreement:
    return _equal_if(isinstance(actual, str) and golden in actual)


def _normalized_date(actual: JsonValue, golden: str) -> Agreement:
    ours = parse_iso8601(actual) if isinstance(actual, str) else None
    theirs = parse_iso8601(golden)
    if ours is None or theirs is None:
        return Agreement.OTHER_FORMAT
    if isinstance(ours, datetime) and isinstance(theirs, datetime):
        if (ours.tzinfo is None) is not (theirs.tzinfo is None):
            return Agreement.OTHER_FORMAT
        return _equal_if(ours == theirs)
    # A datetime is a date for Python, and would compare as unequal or not at all.
    return _equal_if(type(ours) is type(theirs) and ours == theirs)


_LEAF_RULES: Mapping[ParamRule, LeafRule] = {
    ParamRule.NORMALIZED_STR: _normalized_str,
    ParamRule.NORMALIZED_DATE: _normalized_date,
    ParamRule.CONTAINS: _contains,
}


def _equal_if(condition: bool) -> Agreement:
    return Agreement.EQUAL if condition else Agreement.OTHER_VALUE


_ISO8601 = re.compile(
    r"""
    (?P<year>[0-9]{4})
    (?: -(?P<month>[0-9]{2})-(?P<day>[0-9]{2})
      | (?P<basic_month>[0-9]{2})(?P<basic_day>[0-9]{2})
      | -W(?P<week>[0-9]{2})(?:-(?P<weekday>[0-9]))?
      | W(?P<basic_week>[0-9]{2})(?P<basic_weekday>[0-9])?
    )
    (?P<time> T
      (?P<hour>[0-9]{2})
      (?: :(?P<minute>[0-9]{2}) (?: :(?P<second>[0-9]{2}) (?:[.,](?P<fraction>[0-9]+))? )?
        | (?P<basic_minute>[0-9]{2})
          (?: (?P<basic_second>[0-9]{2}) (?:[.,](?P<basic_fraction>[0-9]+))? )?
      )?
      (?P<zone> Z | (?P<sign>[+-])(?P<zone_hour>[0-9]{2})(?: :?(?P<zone_minute>[0-9]{2}) )? )?
    )?
    """,
    re.VERBOSE,
)


def is_iso8601(text: str) -> bool:
    """Whether the rule `normalized_date` can read *text*."""
    return parse_iso8601(text) is not None


def parse_iso8601(text: str) -> date | datetime | None:
    """Read an ISO 8601 date or datetime, or return None where *text* is neither.

    Dates are `2024-05-01`, `20240501`, `2024-W18-3` and `2024W183`; a week alone is its Monday.
    Times follow a `T`: `10`, `10:30`, `10:30:00`, `1030`, `103000`, with a fraction of the second
    after `.` or `,` (counted to the microsecond) and `Z`, `+08`, `+08:00` or `+0800`. Date, time
    and zone may each be extended or basic. Not read are ordinal dates, years of other than four
    digits, lower-case letters, blanks, `24:00`, leap seconds, fractions of hours and minutes.

    Read by hand, not by `datetime.fromisoformat`: what that takes differs between versions of
    Python, and it takes any character for the `T`.
    """
    found = _ISO8601.fullmatch(text)
    if found is None:
        return None
    try:
        day = _read_day(found)
        return day if found["time"] is None or day is None else _read_time(found, day)
    except ValueError:
        return None


def _read_day(found: re.Match[str]) -> date | None:
    year = int(found["year"])
    week = found["week"] or found["basic_week"]
    if week is None:
        return date(
            year,
            int(found["month"] or found["basic_month"]),
            int(found["day"] or found["basic_day"]),
        )
    weekday = found["weekday"] or found["basic_weekday"]
    if weekday is None and found["time"] is not None:
        return None
    return date.fromisocalendar(year, int(week), int(weekday or 1))


def _read_time(found: re.Match[str], day: date) -> datetime:
    fraction = found["fraction"] or found["basic_fraction"] or ""
    return datetime(
        day.year,
        day.month,
        day.day,
        int(found["hour"]),
        int(found["minute"] or found["basic_minute"] or 0),
        int(found["second"] or found["basic_second"] or 0),
        int(fraction[:6].ljust(6, "0")),
        tzinfo=_read_zone(found),
    )


def _read_zone(found: re.Match[str]) -> timezone | None:
    if found["zone"] is None:
        return None
    if found["zone"] == "Z":
        return UTC
    minutes = int(found["zone_minute"] or 0)
    if minutes > 59:
        raise ValueError("a zone has at most 59 minutes")
    offset = timedelta(hours=int(found["zone_hour"]), minutes=minutes)
    return timezone(-offset if found["sign"] == "-" else offset)
