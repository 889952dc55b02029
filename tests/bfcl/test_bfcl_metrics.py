from __future__ import annotations

import json
from typing import Any

import pytest

from fc_eval.bfcl.adherence import SchemaFault, schema_faults, spelled_defaults
from fc_eval.bfcl.entries import BfclEntry
from fc_eval.bfcl.metrics import Scored, build_metrics, official_groups
from fc_eval.bfcl.predictions import Answer
from fc_eval.bfcl.score import score
from fc_eval.bfcl.scripts import text_script
from tests.bfcl.support import Label, call, entry, function

UNIT = {"type": "string", "enum": ["C", "F"], "default": "C"}
PROPERTIES = {
    "city": {"type": "string"},
    "days": {"type": "integer", "default": 1},
    "unit": UNIT,
    "at": {
        "type": "dict",
        "properties": {"hour": {"type": "float"}, "zone": {"type": "any"}},
        "required": ["hour"],
    },
    "tags": {"type": "array", "items": {"type": "string"}, "enum": ["a", "b"]},
    "flag": {"type": "boolean", "enum": ["True"]},
    "note": {"type": "string", "default": None},
}
WEATHER = function("geo.weather", PROPERTIES, required=["city"])
ROME: Label = {"geo.weather": {"city": ["Rome"], "days": [1, 2, ""], "unit": ["F", ""]}}
BROKEN = {"name": "geo_weather", "arguments": "{"}


def scored(case: BfclEntry, *calls: dict[str, Any]) -> Scored:
    return Scored(entry=case, answer=Answer(calls=calls), score=score(case, calls))


def test_exact_match_is_counted_by_subset_pipeline_and_script() -> None:
    case = entry("live_simple", [WEATHER], [ROME], question="上海の天気は?")
    english = entry("irrelevance", [WEATHER])

    metrics = build_metrics(
        [
            scored(case, call("geo_weather", city="Rome")),
            scored(case, call("geo_weather", city="Oslo")),
            scored(english),
        ]
    )

    assert metrics["subsets"] == {
        "irrelevance": {"entries": 1, "valid": 1, "accuracy": 1.0, "of": 240, "complete": False},
        "live_simple": {"entries": 2, "valid": 1, "accuracy": 0.5, "of": 258, "complete": False},
    }
    assert metrics["pipelines"]["live"] == {
        "entries": 2,
        "valid": 1,
        "accuracy": 0.5,
        "of": 2251,
        "missing": [
            "live_multiple",
            "live_parallel",
            "live_parallel_multiple",
            "live_relevance",
            "live_irrelevance",
        ],
        "mean_of_subsets": 0.5,
    }
    assert set(metrics["pipelines"]) == {"offline", "production", "live"}
    assert metrics["scripts"] == {"Han+Kana": {"entries": 2, "valid": 1, "accuracy": 0.5}}
    assert metrics["error_types"] == {"value_error:string": 1}
    assert metrics["official"]["live"]["accuracy"] is None


def test_calls_and_arguments_are_counted_on_labelled_entries_only() -> None:
    case = entry("parallel", [WEATHER], [ROME, {"geo.weather": {"city": ["Oslo"], "days": [3]}}])
    metrics = build_metrics(
        [
            scored(case, call("geo_weather", city="Rome"), call("geo_weather", city="Bergen")),
            scored(case, call("geo_weather", city="Rome"), call("map"), call("map")),
            scored(case, BROKEN),
            scored(entry("irrelevance", [WEATHER]), call("geo_weather", city="Rome")),
        ]
    )

    assert metrics["calls"] == {
        "expected": 6,
        "made": 6,
        "right_name": 3,
        "right": 2,
        "precision": 1 / 3,
        "recall": 1 / 3,
        "f1": 1 / 3,
    }
    # Rome twice; Bergen is wrong and its days are missing.
    assert metrics["arguments"] == {"judged": 4, "right": 2, "accuracy": 0.5}


def test_malformed_attempts_are_told_beside_the_official_rate() -> None:
    case = entry("live_irrelevance", [WEATHER])

    metrics = build_metrics(
        [scored(case), scored(case, call("made_up")), scored(case, BROKEN), scored(case)]
    )

    assert metrics["irrelevance"] == {
        "entries": 4,
        "false_positives": 1,
        "false_positive_rate": 0.25,
        "malformed_attempts": 1,
        "attempt_rate": 0.5,
    }


def test_calls_are_held_against_the_documents_of_all_entries() -> None:
    case = entry("irrelevance", [WEATHER])

    metrics = build_metrics(
        [
            scored(case, call("geo_weather", city="Rome", unit="K", days=1)),
            scored(case, call("geo_weather", city="Rome"), call("made_up", a=1)),
            scored(case, BROKEN),
        ]
    )

    assert metrics["schema"] == {
        "calls": 3,
        "adherent": 1,
        "adherence": 1 / 3,
        "unknown_tools": 1,
        "malformed": 1,
        "arguments": 5,
        "faults": {
            "missing_required": 0,
            "undocumented": 0,
            "wrong_type": 0,
            "enum_violation": 1,
        },
        "defaults_spelled_out": 1,
    }


def test_prompt_answers_are_held_against_documented_names() -> None:
    case = entry("simple_python", [WEATHER], [ROME])
    text = "[geo.weather(city='Rome')]"
    item = Scored(
        entry=case, answer=Answer(calls=None, text=text), score=score(case, None, text=text)
    )

    metrics = build_metrics([item])

    assert metrics["calls"]["precision"] == metrics["schema"]["adherence"] == 1.0


def test_a_share_of_nothing_is_null() -> None:
    metrics = build_metrics([])

    assert metrics["calls"]["precision"] is None
    assert metrics["irrelevance"]["false_positive_rate"] is None
    assert json.loads(json.dumps(metrics, allow_nan=False)) == metrics


LIVE = {
    "live_simple": 1.0,
    "live_multiple": 0.0,
    "live_parallel": 1.0,
    "live_parallel_multiple": 1.0,
}
NON_LIVE = {
    "simple_python": 0.9,
    "simple_java": 0.6,
    "simple_javascript": 0.3,
    "multiple": 0.8,
    "parallel": 0.4,
    "parallel_multiple": 0.2,
}
OTHERS = {
    "irrelevance": 1.0,
    "live_irrelevance": 0.5,
    "multi_turn_base": 0.4,
    "multi_turn_miss_func": 0.2,
    "multi_turn_miss_param": 0.2,
    "multi_turn_long_context": 0.4,
    "web_search_base": 0.5,
    "web_search_no_snippet": 0.1,
    "memory_kv": 0.3,
    "memory_vector": 0.2,
    "memory_rec_sum": 0.1,
}


@pytest.mark.parametrize(
    ("group", "accuracy"),
    [
        pytest.param("non_live", 0.5, id="simple-is-one-of-four"),
        pytest.param("live", 298 / 1351, id="live-goes-by-entries"),
        pytest.param("irrelevance", 0.75, id="irrelevance-does-not"),
        pytest.param("multi_turn", 0.3, id="multi-turn-is-a-plain-mean"),
        pytest.param("agentic", 0.25, id="agentic-is-a-mean-of-means"),
        pytest.param(
            "overall",
            0.1 * 0.5 + 0.1 * 298 / 1351 + 0.1 * 0.75 + 0.3 * 0.3 + 0.4 * 0.25,
            id="overall-is-weighted",
        ),
    ],
)
def test_official_groups(group: str, accuracy: float) -> None:
    groups = official_groups({**LIVE, **NON_LIVE, **OTHERS})

    assert groups[group]["accuracy"] == pytest.approx(accuracy)
    assert groups[group]["missing"] == []


def test_a_group_that_lacks_a_subset_is_not_formed() -> None:
    groups = official_groups({**LIVE, "simple_python": 1.0})

    assert groups["live"]["accuracy"] is not None
    assert groups["non_live"]["accuracy"] is None
    assert groups["irrelevance"] == {
        "accuracy": None,
        "missing": ["irrelevance", "live_irrelevance"],
    }


@pytest.mark.parametrize(
    ("arguments", "faults"),
    [
        pytest.param({"city": "Rome"}, [], id="all-is-well"),
        pytest.param({}, [("city", SchemaFault.MISSING_REQUIRED)], id="required-is-missing"),
        pytest.param(
            {"city": "Rome", "town": 1}, [("town", SchemaFault.UNDOCUMENTED)], id="undocumented"
        ),
        pytest.param({"city": 5}, [("city", SchemaFault.WRONG_TYPE)], id="another-type"),
        pytest.param(
            {"city": "Rome", "days": 2.0}, [("days", SchemaFault.WRONG_TYPE)], id="no-integer"
        ),
        pytest.param(
            {"city": "Rome", "days": True}, [("days", SchemaFault.WRONG_TYPE)], id="no-number"
        ),
        pytest.param(
            {"city": "Rome", "unit": "K"}, [("unit", SchemaFault.ENUM_VIOLATION)], id="not-listed"
        ),
        pytest.param({"city": "Rome", "at": {"hour": 5}}, [], id="an-integer-is-a-float"),
        pytest.param(
            {"city": "Rome", "at": {"zone": 1}},
            [
                ("at.hour", SchemaFault.MISSING_REQUIRED),
                ("at.zone", SchemaFault.WRONG_TYPE),
            ],
            id="inside-an-object",
        ),
        pytest.param(
            {"city": "Rome", "tags": ["a", "c", 1]},
            [("tags.1", SchemaFault.ENUM_VIOLATION), ("tags.2", SchemaFault.WRONG_TYPE)],
            id="inside-a-list",
        ),
        pytest.param({"city": "Rome", "flag": True}, [], id="an-enum-may-spell-booleans"),
        pytest.param(
            {"city": "Rome", "flag": False}, [("flag", SchemaFault.ENUM_VIOLATION)], id="or-not"
        ),
        pytest.param({"city": "Rome", "note": None}, [], id="a-default-always-fits"),
    ],
)
def test_arguments_are_held_against_the_document(
    arguments: dict[str, Any], faults: list[Any]
) -> None:
    assert schema_faults(WEATHER, arguments) == faults


def test_defaults_that_are_spelled_out_are_told() -> None:
    arguments = {"city": "C", "days": 1, "unit": "F", "note": None, "town": 1}

    assert spelled_defaults(WEATHER, arguments) == ["days", "note"]


@pytest.mark.parametrize(
    ("text", "script"),
    [
        pytest.param("What's the weather?", "Latin", id="latin"),
        pytest.param("Tìm chuyến xe", "Latin", id="latin-with-marks"),
        pytest.param("我想知道上海目前的天气状况", "Han", id="han"),
        pytest.param("把 IPv 卡改成 auto", "Han+Latin", id="mixed"),
        pytest.param("Find the city that is called 京 in Japan", "Latin", id="a-lone-letter"),
        pytest.param("ＡＢＣ", "Latin", id="width-is-no-script"),
        pytest.param("집에", "Hangul", id="hangul"),
        pytest.param("9:45", "none", id="no-letters"),
    ],
)
def test_a_script_is_read_off_the_letters(text: str, script: str) -> None:
    assert text_script([text]) == script
