from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fc_eval.bfcl.error_types import ErrorType as E
from fc_eval.bfcl.match import compile_label, compile_value, standard_form
from tests.bfcl.support import function

TEXT = {"type": "string"}
ANY = {"type": "any"}
INTEGER = {"type": "integer"}
FLOAT = {"type": "float"}
BOOLEAN = {"type": "boolean"}
OBJECT = {"type": "dict"}


def array(items: str, kind: str = "array") -> dict[str, Any]:
    return {"type": kind, "items": {"type": items}}


@pytest.mark.parametrize(
    ("schema", "allowed", "actual", "fault"),
    [
        pytest.param(INTEGER, [5], 5, None, id="an-integer-is-equal"),
        pytest.param(INTEGER, [5], 6, E.VALUE, id="an-integer-is-another"),
        pytest.param(INTEGER, [5], 5.0, E.TYPE, id="a-float-is-no-integer"),
        pytest.param(INTEGER, [5], "5", E.TYPE, id="a-text-is-no-integer"),
        pytest.param(INTEGER, [1], True, E.TYPE, id="a-boolean-is-no-integer"),
        pytest.param(BOOLEAN, [True], True, None, id="a-boolean-is-equal"),
        pytest.param(BOOLEAN, [True], 1, E.TYPE, id="an-integer-is-no-boolean"),
        pytest.param(BOOLEAN, [True], "true", E.TYPE, id="a-text-is-no-boolean"),
        pytest.param(FLOAT, [5.0], 5, None, id="an-integer-becomes-a-documented-float"),
        pytest.param(FLOAT, [5], 5.0, None, id="a-label-may-hold-an-integer-for-a-float"),
        pytest.param(FLOAT, [1.0], True, E.TYPE, id="a-boolean-is-no-float"),
        pytest.param(FLOAT, [math.nan], float("nan"), E.VALUE, id="nan-equals-nothing"),
        pytest.param(FLOAT, [1.0], 10**400, E.VALUE, id="too-large-for-a-float-is-another-value"),
        pytest.param(array("float"), [[1.0, 2.0]], [1, 2], E.ELEMENT_TYPE, id="no-float-inside"),
        pytest.param(array("float"), [[1, 2]], [1, 2], None, id="integers-as-the-label-has-them"),
        pytest.param(array("float"), [[1, 2]], [1.0, 2.0], None, id="or-floats-as-documented"),
        pytest.param(
            array("float"), [[1.5, 2]], [1.5, 2], E.ELEMENT_TYPE, id="only-the-first-element-counts"
        ),
        pytest.param(
            array("float"), [[1.0, 2.0], ""], [1, 2], None, id="omittable-waives-the-element-type"
        ),
        pytest.param(array("string"), [["a"], ""], [], None, id="omittable-accepts-the-empty-list"),
        pytest.param(
            array("dict"), [[{"a": [1]}], ""], [], None, id="omittable-accepts-no-objects"
        ),
        pytest.param(array("string"), [], [], E.TYPE, id="nothing-allowed-accepts-nothing"),
        pytest.param(array("string"), [["a", "b"]], ["b", "a"], E.VALUE_LIST, id="order-counts"),
        pytest.param(array("string"), [["A b"]], ["ab"], None, id="texts-in-lists-are-lenient"),
        pytest.param(
            array("array"), [[["A b"]]], [["a B"]], E.VALUE_LIST, id="but-one-level-deep-only"
        ),
        pytest.param(
            array("string"), [["a"], "ab"], ["a", "b"], None, id="a-text-is-read-as-characters"
        ),
        pytest.param(array("string"), [["a"]], "a", E.TYPE, id="a-text-is-no-list"),
        pytest.param(array("float", "tuple"), [[1.0]], [1.0], None, id="a-list-for-a-tuple"),
        pytest.param(array("float", "tuple"), [[1.0]], (1.0,), None, id="a-tuple-for-a-tuple"),
        pytest.param(
            array("float", "tuple"), [[1.0]], [1], E.ELEMENT_TYPE, id="no-float-inside-a-tuple"
        ),
        pytest.param(array("float"), [[1.0]], (1.0,), E.TYPE, id="a-tuple-is-no-array"),
        pytest.param(TEXT, ["a", ""], "", None, id="omittable-accepts-the-empty-text"),
        pytest.param(TEXT, ["a", ""], " -._", None, id="and-texts-of-removed-characters"),
        pytest.param(
            TEXT, ["New York, NY"], "new-york ny", None, id="case-and-some-marks-count-not"
        ),
        pytest.param(TEXT, ["it's"], 'it"s', None, id="quotes-are-one"),
        pytest.param(TEXT, ["a (b)"], "a b", E.VALUE_TEXT, id="parentheses-count"),
        pytest.param(TEXT, ["a:b"], "a b", E.VALUE_TEXT, id="colons-count"),
        pytest.param(TEXT, ["a b"], "a\u00a0b", E.VALUE_TEXT, id="a-no-break-space-counts"),
        pytest.param(TEXT, ["a b"], "a\tb", E.VALUE_TEXT, id="a-tab-counts"),
        pytest.param(TEXT, ["a"], None, E.TYPE, id="null-is-no-text"),
        pytest.param(ANY, ["a"], "A", None, id="any-is-a-text"),
        pytest.param(ANY, ["1"], 1, E.TYPE, id="any-is-nothing-but-a-text"),
        pytest.param(INTEGER, [5, ""], "", E.TYPE, id="empty-text-is-no-integer"),
        pytest.param(INTEGER, [5, ""], None, E.TYPE, id="null-is-no-integer"),
        pytest.param(INTEGER, ["", None], None, None, id="null-where-the-label-has-it"),
        pytest.param(INTEGER, ["", None], 3, E.VALUE, id="documented-type-beside-a-null-label"),
        pytest.param(INTEGER, [""], 3, E.VALUE, id="only-omittable-accepts-no-integer"),
        pytest.param(TEXT, [2], 2, None, id="a-number-where-the-label-has-it"),
        pytest.param(TEXT, [2], "2", E.VALUE, id="documented-type-beside-a-number-label"),
        pytest.param(INTEGER, ["", "dontcare"], "dontcare", None, id="a-text-label-for-a-number"),
        pytest.param(INTEGER, ["", "dontcare"], "DONTCARE", E.VALUE, id="is-compared-as-it-is"),
        pytest.param(TEXT, ["", True], True, None, id="a-boolean-label-for-a-text"),
        pytest.param(TEXT, ["", True], "", None, id="beside-it-the-empty-text"),
        pytest.param(TEXT, ["", True], "true", E.VALUE, id="but-not-its-name"),
        pytest.param(
            array("float"), ["data['x']"], "data['x']", None, id="a-variable-where-the-label-has-it"
        ),
        pytest.param(
            array("float"), ["data['x']"], 'data["x"]', E.VALUE, id="a-variable-is-exact-text"
        ),
        pytest.param(OBJECT, [{"a": [5]}], {"a": 5.0}, None, id="no-types-inside-objects"),
        pytest.param(OBJECT, [{"a": [1]}], {"a": True}, None, id="not-even-booleans"),
        pytest.param(
            OBJECT, [{"a": ["X y"]}], {"a": "xy"}, None, id="texts-of-objects-are-lenient"
        ),
        pytest.param(
            OBJECT, [{"a": [["X"]]}], {"a": ["x"]}, E.OBJECT_VALUE, id="lists-in-objects-are-exact"
        ),
        pytest.param(
            OBJECT,
            [{"a": [{"b": 1}]}],
            {"a": {"b": 1.0}},
            None,
            id="objects-in-objects-by-equality",
        ),
        pytest.param(OBJECT, [{"a": [1, ""]}], {}, None, id="a-key-may-be-omittable"),
        pytest.param(OBJECT, [{"a": [1]}], {}, E.OBJECT_KEY, id="a-key-is-missing"),
        pytest.param(OBJECT, [{"a": [1]}], {"A": 1}, E.OBJECT_KEY, id="keys-have-a-case"),
        pytest.param(
            OBJECT, [{"a": [1], "b": [2]}], {"a": 9}, E.OBJECT_KEY, id="a-missing-key-weighs-more"
        ),
        pytest.param(
            OBJECT,
            [{"a": [1]}, {"b": [2]}],
            {"a": 9},
            E.OBJECT_KEY,
            id="the-last-allowed-object-tells-why",
        ),
        pytest.param(OBJECT, [""], {}, E.OBJECT_UNCLEAR, id="no-object-is-allowed"),
        pytest.param(array("dict"), [[{"a": [1]}]], [{"a": 1}], None, id="objects-pair-by-pair"),
        pytest.param(
            array("dict"),
            [[{"a": [1]}, {"a": [2]}]],
            [{"a": 2}, {"a": 1}],
            E.OBJECT_VALUE,
            id="objects-in-order",
        ),
        pytest.param(
            array("dict"),
            [[{"a": [1]}]],
            [{"a": 1}, {"a": 1}],
            E.OBJECT_COUNT,
            id="as-many-objects",
        ),
        pytest.param(
            array("dict"), ["", [{"a": [1]}]], [5], E.ELEMENT_TYPE, id="an-element-is-no-object"
        ),
    ],
)
def test_a_value_is_held_against_its_label(
    schema: dict[str, Any], allowed: list[Any], actual: Any, fault: E | None
) -> None:
    assert compile_value(schema, allowed)(actual) == fault


TOOL = function(
    "geo.find",
    {"city": TEXT, "zoom": INTEGER, "unit": TEXT, "note": TEXT},
    required=["city"],
)


@pytest.mark.parametrize(
    ("allowed", "arguments", "fault"),
    [
        pytest.param({"city": ["Rome"]}, {"city": "rome"}, None, id="all-is-right"),
        pytest.param({"city": ["Rome"]}, {}, E.MISSING_REQUIRED, id="required-is-missing"),
        pytest.param({"city": ["Rome", ""]}, {}, E.MISSING_REQUIRED, id="required-beats-omittable"),
        pytest.param({"city": ["Rome"]}, {"city": None}, E.TYPE, id="null-counts-as-present"),
        pytest.param(
            {"city": ["Rome"]},
            {"city": "Rome", "zoom": 1},
            E.UNEXPECTED_PARAM,
            id="not-in-the-label",
        ),
        pytest.param(
            {"city": ["Rome"], "size": [1, ""]},
            {"city": "Rome", "size": 1},
            E.UNEXPECTED_PARAM,
            id="in-the-label-and-not-documented",
        ),
        pytest.param(
            {"city": ["Rome"], "size": [1, ""]},
            {"city": "Rome"},
            None,
            id="undocumented-may-be-left-out",
        ),
        pytest.param(
            {"city": ["Rome"], "zoom": [1]},
            {"city": "Rome"},
            E.MISSING_OPTIONAL,
            id="not-omittable",
        ),
        pytest.param(
            {"city": ["Rome"], "zoom": [1, ""]}, {"city": "Rome"}, None, id="omittable-left-out"
        ),
        pytest.param(
            {"city": ["Rome"], "zoom": [1]},
            {"zoom": "1", "city": "Paris"},
            E.TYPE,
            id="the-first-argument-tells-why",
        ),
        pytest.param(
            {"city": ["Rome"], "zoom": [1]},
            {"city": "Paris"},
            E.VALUE_TEXT,
            id="values-come-before-what-is-left-out",
        ),
    ],
)
def test_arguments_are_held_against_a_label(
    allowed: dict[str, list[Any]], arguments: dict[str, Any], fault: E | None
) -> None:
    label = compile_label(TOOL, allowed)

    assert label.fault(arguments) == fault
    assert (fault is None) == (not list(label.faults(arguments)))


def test_every_argument_at_fault_is_told_once() -> None:
    label = compile_label(TOOL, {"city": ["Rome"], "zoom": [1], "unit": ["km"]})

    faults = list(label.faults({"zoom": 1.0, "note": "x"}))

    assert faults == [
        ("city", E.MISSING_REQUIRED),
        ("zoom", E.TYPE),
        ("note", E.UNEXPECTED_PARAM),
        ("unit", E.MISSING_OPTIONAL),
    ]


@given(st.text())
def test_the_standard_form_is_reached_once(text: str) -> None:
    once = standard_form(text)

    assert not set(once) & set(" ,./-_*^'")
    assert standard_form(once.lower()) == standard_form(once)


@given(
    st.dictionaries(st.sampled_from(["city", "zoom", "unit", "note"]), st.integers() | st.text())
)
def test_the_first_fault_is_among_all_faults(arguments: dict[str, Any]) -> None:
    label = compile_label(TOOL, {"city": ["Rome"], "zoom": [1, ""], "note": ["a", ""]})
    fault = label.fault(arguments)
    faults = [code for _, code in label.faults(arguments)]

    assert faults[:1] == ([] if fault is None else [fault])


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=8,
    )
)
def test_no_value_breaks_a_check(value: Any) -> None:
    checks = [
        compile_value(TEXT, ["a", "", None]),
        compile_value(FLOAT, [1.5, "x"]),
        compile_value(OBJECT, [{"a": [1, [2]]}, ""]),
        compile_value(array("dict"), [[{"a": [1]}, {"b": [""]}], ""]),
        compile_value(array("array", "tuple"), [[["a"]], "ab"]),
    ]

    assert all(check(value) is None or isinstance(check(value), E) for check in checks)
