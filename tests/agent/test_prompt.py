"""Prompt mode: how tools are told, answers read, and results given back."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fc_eval.agent.flags import Flag
from fc_eval.agent.prompt import FORMATS, MAX_STRING, answer_schema, protocol_for
from fc_eval.agent.protocol import AnsweredCall, ReadCall, Reply, ToolProtocol
from fc_eval.errors import ConfigError
from fc_eval.records.run import Exchange

ROUTE: dict[str, Any] = {
    "name": "plan_route",
    "description": "Plan a way.",
    "parameters": {
        "type": "object",
        "properties": {
            "start": {"type": "string", "minLength": 1, "description": "Where from."},
            "by": {"type": "string", "enum": ["foot", "bike"]},
            "stops": {"type": "array", "items": {"type": "string"}},
            "car": {"type": "object", "properties": {"seats": {"type": "integer", "minimum": 1}}},
            "limit": {"type": "number", "exclusiveMinimum": 0},
            "notes": {"type": "object"},
        },
        "required": ["start"],
        "additionalProperties": False,
    },
}
PING: dict[str, Any] = {"name": "ping"}
TOOLS = [{"type": "function", "function": ROUTE}, {"type": "function", "function": PING}]
CALL = '{"name": "ping", "arguments": {}}'
every_format = pytest.mark.parametrize("prompt_format", sorted(FORMATS))


def reply(text: str, calls: tuple[ReadCall, ...] = ()) -> Reply:
    return Reply(text=text, raw_text=text, calls=calls, exchange=Exchange(step=1))


def protocol(prompt_format: str = "json") -> ToolProtocol:
    return protocol_for(prompt_format, TOOLS)


# --- reading


@every_format
@pytest.mark.parametrize(
    ("text", "calls"),
    [
        pytest.param(CALL, [("ping", {})], id="one-object-is-one-call"),
        pytest.param(f"\n {CALL} \n", [("ping", {})], id="blanks-around-it-do-not-count"),
        pytest.param(f"[{CALL}, {CALL}]", [("ping", {})] * 2, id="a-list-is-several-calls"),
        pytest.param('{"name": "ping"}', [("ping", {})], id="absent-arguments-are-empty"),
        pytest.param(
            '{"name": "plan_route", "arguments": {"start": "家"}}',
            [("plan_route", {"start": "家"})],
            id="arguments-come-as-they-are",
        ),
        pytest.param(
            '{"name": " pong", "arguments": {}}', [(" pong", {})], id="names-are-not-trimmed"
        ),
        pytest.param('{"name": "ping", "arguments": []}', [("ping", None)], id="list-arguments"),
        pytest.param('{"name": "ping", "arguments": "{}"}', [("ping", None)], id="text-arguments"),
        pytest.param('{"name": null, "arguments": {}}', [("", {})], id="no-name"),
        pytest.param(f"[{CALL}, 3]", [("ping", {}), (None, None)], id="one-bad-call-of-two"),
        pytest.param(f"```json\n{CALL}\n```", [(None, None)], id="a-fence-is-not-stripped"),
        pytest.param(f"Sure! {CALL}", [(None, None)], id="words-before-a-call"),
        pytest.param(f"{CALL} Done.", [(None, None)], id="words-after-a-call"),
        pytest.param(f"{CALL}\n{CALL}", [(None, None)], id="calls-without-a-list"),
        pytest.param(f"<tool_call>{CALL}</tool_call>", [(None, None)], id="a-call-in-a-tag"),
        pytest.param('{"name": "ping", "argum', [(None, None)], id="a-call-that-breaks-off"),
        pytest.param("{'name': 'ping', 'arguments': {}}", [(None, None)], id="single-quotes"),
        pytest.param('{"tool": "ping"}', [(None, None)], id="json-that-is-no-call"),
        pytest.param(
            '{"name": "ping", "parameters": {}}', [(None, None)], id="a-key-that-calls-lack"
        ),
        pytest.param(
            '{"name": "ping", "name": "pong", "arguments": {}}',
            [(None, None)],
            id="one-key-with-two-values",
        ),
    ],
)
def test_calls_are_read_by_the_letter(
    prompt_format: str, text: str, calls: list[tuple[str | None, Any]]
) -> None:
    reading = protocol(prompt_format).read(reply(text))

    assert [(call.tool, call.arguments) for call in reading.calls] == calls


@every_format
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param("Your way is planned.", id="words"),
        pytest.param("[1] is the first stop.", id="words-in-brackets"),
        pytest.param("```\nprint(1)\n```", id="other-code"),
        pytest.param('Your "name": is on the list', id="half-of-what-a-call-has"),
    ],
)
def test_plain_prose_is_the_final_text(prompt_format: str, text: str) -> None:
    reading = protocol(prompt_format).read(reply(text))

    assert (reading.calls, reading.text) == ((), text)


def test_an_answer_object_is_final_text_where_the_format_has_one() -> None:
    text = '{"answer": "Good day."}'

    assert protocol("json_schema").read(reply(text)).text == "Good day."
    assert protocol("json").read(reply(text)).calls[0].parse_error


@pytest.mark.parametrize(
    ("text", "flag"),
    [
        pytest.param('{"name": "ping"}', Flag.ARGS_EMPTY, id="absent-arguments"),
        pytest.param('{"arguments": {}, "name": 1}', Flag.NAME_MISSING, id="a-number-for-a-name"),
        pytest.param(f"```json\n{CALL}\n```", Flag.NEAR_MISS_ARGS, id="a-fence"),
        pytest.param(f"{CALL}\n{CALL}", Flag.CONCATENATED_ARGS, id="calls-without-a-list"),
    ],
)
def test_near_misses_are_noted(text: str, flag: Flag) -> None:
    assert flag in protocol().read(reply(text)).calls[0].flags


def test_a_malformed_call_keeps_its_text() -> None:
    text = f"Sure! {CALL}"

    (call,) = protocol().read(reply(text)).calls

    assert call.arguments_raw == text
    assert call.parse_error


def test_calls_that_the_endpoint_has_read_count() -> None:
    call = ReadCall(tool="ping", arguments={})

    assert protocol().read(reply("", calls=(call,))).calls == (call,)


@every_format
@given(text=st.text() | st.text(alphabet='{}[]":,name arguments').map(lambda end: CALL[:20] + end))
def test_no_text_makes_reading_fail(prompt_format: str, text: str) -> None:
    reading = protocol(prompt_format).read(reply(text))

    assert all((call.arguments is None) == bool(call.parse_error) for call in reading.calls)


# --- telling


@every_format
def test_the_system_text_is_the_domains_and_all_tools(prompt_format: str) -> None:
    text = protocol(prompt_format).system_text("Serve {well}.\n")

    assert text.startswith("Serve {well}.\n\n")
    assert "plan_route" in text
    assert "ping" in text


def test_a_signature_shows_what_is_optional_and_what_may_be_chosen() -> None:
    text = protocol("json_schema").system_text("")

    assert (
        "- plan_route(start, by?: foot|bike, stops?: array, car?: {seats}, limit?: number, "
        "notes?: object): Plan a way." in text
    )


def test_results_go_back_in_one_user_message() -> None:
    answered = [
        AnsweredCall(call=ReadCall(tool="ping", arguments={}), history_id="1", content='"pong"'),
        AnsweredCall(call=ReadCall(tool=None, arguments=None), history_id="2", content="{}"),
    ]

    (message,) = protocol().result_messages(answered)

    assert message["role"] == "user"
    assert message["content"].split("\n")[:2] == [
        'Result of ping: "pong"',
        "Result of the call: {}",
    ]


@pytest.mark.parametrize(
    ("answer", "content"),
    [
        pytest.param(reply(f" {CALL}"), f" {CALL}", id="as-it-came"),
        pytest.param(
            reply("", calls=(ReadCall(tool="ping", arguments={}),)),
            f"[{CALL}]",
            id="calls-of-the-endpoint-in-this-form",
        ),
    ],
)
def test_an_answer_goes_into_the_history(answer: Reply, content: str) -> None:
    message = protocol().assistant_message(answer, [])

    assert message == {"role": "assistant", "content": content}


@pytest.mark.parametrize(
    ("text", "content"),
    [
        pytest.param('{\n  "name": "ping",\n  "arguments": {}\n}', CALL, id="json-is-respaced"),
        pytest.param("{ broken", "{ broken", id="what-is-no-json-stays"),
    ],
)
def test_a_constrained_answer_is_spaced_like_the_examples(text: str, content: str) -> None:
    message = protocol("json_schema").assistant_message(reply(text), [])

    assert message == {"role": "assistant", "content": content}


# --- constraining


def test_only_the_constrained_format_asks_for_a_schema() -> None:
    fields = protocol("json_schema").request_fields()

    assert protocol("json").request_fields() == {}
    assert fields["response_format"]["json_schema"]["schema"] == answer_schema([ROUTE, PING])


@pytest.mark.parametrize(
    ("answer", "fits"),
    [
        pytest.param({"name": "ping", "arguments": {}}, True, id="a-call-without-parameters"),
        pytest.param(
            {"name": "plan_route", "arguments": {"start": "a", "car": {"seats": 2}}},
            True,
            id="a-call-with-nested-arguments",
        ),
        pytest.param(
            {"name": "plan_route", "arguments": {"start": "a", "notes": {"any": "thing"}}},
            True,
            id="an-object-whose-keys-are-free",
        ),
        pytest.param({"answer": "Good day."}, True, id="an-answer"),
        pytest.param({"answer": ""}, False, id="an-empty-answer"),
        pytest.param({"name": "pong", "arguments": {}}, False, id="an-unknown-tool"),
        pytest.param({"name": "plan_route", "arguments": {}}, False, id="a-missing-parameter"),
        pytest.param({"name": "ping", "arguments": {"a": 1}}, False, id="an-unknown-parameter"),
        pytest.param(
            {"name": "plan_route", "arguments": {"start": "a" * (MAX_STRING + 1)}},
            False,
            id="an-endless-string",
        ),
    ],
)
def test_the_schema_takes_calls_of_the_toolset_and_answers(answer: Any, fits: bool) -> None:
    validator = jsonschema.Draft202012Validator(answer_schema([ROUTE, PING]))

    assert validator.is_valid(answer) == fits


def test_names_come_before_arguments_and_unsayable_rules_are_left_out() -> None:
    call = answer_schema([ROUTE])["anyOf"][0]

    assert list(call["properties"]) == ["name", "arguments"]
    assert "exclusiveMinimum" not in json.dumps(call)


def test_an_unknown_format_is_a_configuration_fault() -> None:
    with pytest.raises(ConfigError) as caught:
        protocol("yaml")

    assert "json_schema" in caught.value.fix
