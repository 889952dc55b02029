from __future__ import annotations

from typing import Any

import pytest

from fc_eval.bfcl.error_types import ErrorType as E
from fc_eval.bfcl.match import Naming
from fc_eval.bfcl.score import Pair, pair_calls, score
from tests.bfcl.support import Label, call, entry, function

PROPERTIES = {"city": {"type": "string"}, "days": {"type": "integer"}}
WEATHER = function("geo.weather", PROPERTIES, required=["city"])
MAP = function("map", PROPERTIES, required=["city"])
ROME: Label = {"geo.weather": {"city": ["Rome"], "days": [1, 2, ""]}}
OSLO: Label = {"geo.weather": {"city": ["Oslo"], "days": [3, ""]}}

SIMPLE = entry("simple_python", [WEATHER], [ROME])
MULTIPLE = entry("live_multiple", [MAP, WEATHER], [ROME])
PARALLEL = entry("parallel", [WEATHER], [ROME, OSLO])
IRRELEVANT = entry("irrelevance", [WEATHER])
RELEVANT = entry("live_relevance", [WEATHER])

RIGHT = call("geo_weather", city="Rome")
NORTH = call("geo_weather", city="Oslo", days=3)
BROKEN = {"name": "geo_weather", "arguments": "{"}


@pytest.mark.parametrize(
    ("case", "calls", "error_type"),
    [
        pytest.param(SIMPLE, [RIGHT], None, id="a-right-call"),
        pytest.param(
            SIMPLE, [{"name": "geo_weather", "arguments": {"city": "Rome"}}], None, id="an-object"
        ),
        pytest.param(SIMPLE, [], E.SIMPLE_COUNT, id="no-call"),
        pytest.param(SIMPLE, [RIGHT, RIGHT], E.SIMPLE_COUNT, id="one-call-too-many"),
        pytest.param(SIMPLE, [call("geo.weather", city="Rome")], E.WRONG_NAME, id="a-dotted-name"),
        pytest.param(
            SIMPLE, [call("GEO_weather", city="Rome")], E.WRONG_NAME, id="names-have-a-case"
        ),
        pytest.param(SIMPLE, [{**RIGHT, "name": None}], E.WRONG_NAME, id="no-name"),
        pytest.param(SIMPLE, [BROKEN], E.DECODER_FAILED, id="broken-arguments"),
        pytest.param(MULTIPLE, [RIGHT], None, id="the-right-one-of-several-tools"),
        pytest.param(MULTIPLE, [call("map", city="Rome")], E.WRONG_NAME, id="another-tool"),
        pytest.param(MULTIPLE, [], E.MULTIPLE_COUNT, id="none-of-several-tools"),
        pytest.param(PARALLEL, [RIGHT, NORTH], None, id="calls-in-label-order"),
        pytest.param(PARALLEL, [NORTH, RIGHT], None, id="calls-in-another-order"),
        pytest.param(PARALLEL, [RIGHT, RIGHT], E.NO_MATCH, id="one-call-serves-one-label"),
        pytest.param(PARALLEL, [RIGHT], E.PARALLEL_COUNT, id="too-few-parallel-calls"),
        pytest.param(PARALLEL, [RIGHT, NORTH, BROKEN], E.DECODER_FAILED, id="one-broken-call"),
        pytest.param(IRRELEVANT, [], None, id="silent-where-nothing-fits"),
        pytest.param(
            IRRELEVANT, [RIGHT], E.CALLED_THOUGH_IRRELEVANT, id="called-where-nothing-fits"
        ),
        pytest.param(
            IRRELEVANT, [call("made_up")], E.CALLED_THOUGH_IRRELEVANT, id="a-made-up-tool-is-a-call"
        ),
        pytest.param(IRRELEVANT, [RIGHT, BROKEN], None, id="a-broken-call-undoes-the-others"),
        pytest.param(RELEVANT, [call("made_up")], None, id="any-call-where-one-is-due"),
        pytest.param(RELEVANT, [], E.SILENT_THOUGH_RELEVANT, id="silent-where-a-call-is-due"),
        pytest.param(RELEVANT, [BROKEN], E.SILENT_THOUGH_RELEVANT, id="a-broken-call-is-none"),
    ],
)
def test_an_answer_over_a_tools_api(case: Any, calls: list[Any], error_type: E | None) -> None:
    result = score(case, calls)

    assert (result.valid, result.error_type) == (error_type is None, error_type)
    assert bool(result.diff) is not result.valid


@pytest.mark.parametrize(
    ("case", "text", "error_type"),
    [
        pytest.param(SIMPLE, "[geo.weather(city='Rome')]", None, id="a-documented-name"),
        pytest.param(SIMPLE, "[geo_weather(city='Rome')]", E.WRONG_NAME, id="a-tool-name"),
        pytest.param(SIMPLE, "The weather is fine.", E.DECODER_FAILED, id="prose"),
        pytest.param(SIMPLE, "", E.SIMPLE_COUNT, id="an-empty-text"),
        pytest.param(IRRELEVANT, "Nothing fits.", None, id="prose-where-nothing-fits"),
        pytest.param(IRRELEVANT, "f()", E.CALLED_THOUGH_IRRELEVANT, id="a-call-where-nothing-fits"),
        pytest.param(RELEVANT, "f()", None, id="a-call-where-one-is-due"),
    ],
)
def test_an_answer_in_prompt_mode(case: Any, text: str, error_type: E | None) -> None:
    result = score(case, None, text=text)

    assert (result.valid, result.error_type) == (error_type is None, error_type)


def test_a_message_instead_of_calls_is_no_prompt_mode() -> None:
    result = score(SIMPLE, [], text="[geo.weather(city='Rome')]")

    assert result.error_type is E.DECODER_FAILED


def test_labels_are_served_greedily() -> None:
    generous: Label = {"geo.weather": {"city": ["Rome", "Oslo"], "days": [1, ""]}}
    case = entry("parallel", [WEATHER], [generous, {"geo.weather": {"city": ["Oslo"]}}])
    rome, oslo = call("geo_weather", city="Rome"), call("geo_weather", city="Oslo")

    # A full matching exists either way; the official one does not go back on a choice.
    assert score(case, [rome, oslo]).valid
    assert score(case, [oslo, rome]).error_type is E.NO_MATCH


def test_a_simple_entry_is_held_against_its_tool_and_not_the_label_s_name() -> None:
    case = entry("simple_python", [WEATHER], [{"other": ROME["geo.weather"]}])

    assert score(case, [RIGHT]).valid


@pytest.mark.parametrize(
    ("case", "calls", "diff"),
    [
        pytest.param(
            SIMPLE,
            [call("geo_weather", city="Paris", days=1.0, unit="C")],
            [
                ("calls[0].city", E.VALUE_TEXT, ["Rome"], "Paris"),
                ("calls[0].days", E.TYPE, [1, 2, ""], 1.0),
                ("calls[0].unit", E.UNEXPECTED_PARAM, None, "C"),
            ],
            id="every-argument-at-fault",
        ),
        pytest.param(
            PARALLEL,
            [call("geo_weather", city="Oslo", days=4), RIGHT],
            [("calls[1].days", E.VALUE, [3, ""], 4)],
            id="the-nearest-call-of-a-label",
        ),
        pytest.param(
            PARALLEL,
            [RIGHT],
            [("calls[1]", E.PARALLEL_COUNT, {"geo_weather": OSLO["geo.weather"]}, None)],
            id="a-label-without-a-call",
        ),
        pytest.param(
            SIMPLE,
            [RIGHT, NORTH],
            [("actual[1]", E.SIMPLE_COUNT, None, {"geo_weather": {"city": "Oslo", "days": 3}})],
            id="a-call-without-a-label",
        ),
        pytest.param(
            SIMPLE,
            [call("map", city="Rome")],
            [("calls[0]", E.WRONG_NAME, "geo_weather", "map")],
            id="another-name",
        ),
        pytest.param(
            IRRELEVANT,
            [RIGHT],
            [("actual[0]", E.CALLED_THOUGH_IRRELEVANT, None, {"geo_weather": {"city": "Rome"}})],
            id="a-call-where-none-is-due",
        ),
        pytest.param(
            RELEVANT, [], [("answer", E.SILENT_THOUGH_RELEVANT, None, None)], id="no-call-where-due"
        ),
        pytest.param(
            SIMPLE, [BROKEN], [("answer", E.DECODER_FAILED, None, [BROKEN])], id="a-broken-answer"
        ),
    ],
)
def test_the_diff_tells_every_difference(case: Any, calls: list[Any], diff: list[Any]) -> None:
    told = [(row.path, row.code, row.golden, row.actual) for row in score(case, calls).diff]

    assert told == diff


def test_the_diff_is_plain_json_in_prompt_mode() -> None:
    text = "[geo.weather(city=(1, b'x'), days={2j: ...}, **rest)]"

    actual = {row.path: row.actual for row in score(SIMPLE, None, text=text).diff}

    assert actual == {
        "calls[0].city": [1, "b'x'"],
        "calls[0].days": {"2j": "..."},
        "calls[0].None": "rest",
    }


@pytest.mark.parametrize(
    ("source", "told"),
    [
        pytest.param("1e999", "inf", id="infinity"),
        pytest.param("0x1" + "0" * 4000, "0x1" + "0" * 4000, id="more-digits-than-python-writes"),
    ],
)
def test_numbers_that_json_can_not_hold_are_told_as_text(source: str, told: str) -> None:
    result = score(SIMPLE, None, text=f"[geo.weather(city={source})]")

    assert [row.actual for row in result.diff] == [told]


def test_pairs_go_by_exactness_then_name_then_order() -> None:
    decoded: list[Any] = [
        ("map", {}),
        ("geo.weather", {"city": "Paris", "days": 9}),
        ("geo.weather", {"city": "Oslo"}),
        ("geo.weather", {"city": "Paris"}),
    ]
    labels = entry("parallel_multiple", [WEATHER, MAP], [ROME, OSLO, {"map": {}}]).labels

    assert pair_calls(labels, decoded, Naming.DOCUMENTED) == [
        Pair(label=0, call=3, named=True),
        Pair(label=1, call=2, named=True, exact=True),
        Pair(label=2, call=0, named=True),
    ]
