"""What is read out of a completion, and what is none."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fc_eval.agent.protocol import Reply
from fc_eval.client.classify import Problem, Response
from fc_eval.client.wire import Asked, read_content, read_response, read_usage, same_model
from fc_eval.records.calls import Usage
from fc_eval.records.flags import Flag
from fc_eval.records.run import ErrorCode

USAGE = {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12}


def _entry(name: Any = "t", arguments: Any = "{}", **more: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {"id": "c1", "type": "function", "function": function, **more}


def _body(message: Any = None, reason: Any = "stop", **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return {"model": "m", "choices": [choice], "usage": USAGE, **more}


def _read(body: Any, *, limit: int | None = None) -> Reply | Problem:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return read_response(Response(status=200, body=data), Asked(model="m", limit=limit))


def _reply(body: Any, **options: Any) -> Reply:
    read = _read(body, **options)
    assert isinstance(read, Reply), read
    return read


def _calls(*entries: Any, reason: str = "tool_calls", **more: Any) -> dict[str, Any]:
    return _body({"content": None, "tool_calls": list(entries)}, reason, **more)


TEXT = _body({"content": "hi"})


@pytest.mark.parametrize(
    ("body", "code", "repeatable"),
    [
        pytest.param(b"", "bad_response", True, id="nothing"),
        pytest.param(b"<html>", "bad_response", True, id="a-page"),
        pytest.param(b"data: {}\n\n", "bad_response", True, id="an-event-stream"),
        pytest.param(b"\xff{}", "bad_response", True, id="no-utf-8"),
        pytest.param(b"[" * 100_000, "bad_response", True, id="nested-without-end"),
        pytest.param("text", "bad_response", True, id="a-json-string"),
        pytest.param([TEXT], "bad_response", True, id="a-list"),
        pytest.param({"data": TEXT}, "bad_response", True, id="a-wrapper"),
        pytest.param({}, "bad_response", True, id="no-choices"),
        pytest.param({"choices": None}, "bad_response", True, id="null-choices"),
        pytest.param({"choices": []}, "bad_response", True, id="empty-choices"),
        pytest.param({"choices": {}}, "bad_response", True, id="choices-of-another-type"),
        pytest.param({"choices": [None, 1]}, "bad_response", True, id="choices-that-are-none"),
        pytest.param(_body(None, usage=None), "bad_response", True, id="no-message"),
        pytest.param(_body(None), "bad_response", False, id="no-message-but-tokens"),
        pytest.param(_body(None, "content_filter"), "content_filter", False, id="filtered"),
        pytest.param(_body({"content": ""}, "content_filter"), "content_filter", False,
                     id="filtered-to-nothing"),
        pytest.param(_body({"content": None}, usage={"completion_tokens": 0}), "bad_response",
                     True, id="an-answer-of-no-tokens"),
        pytest.param(_body({"content": ""}, "tool_calls"), "bad_response", False,
                     id="a-call-that-was-lost"),
        pytest.param(_body({"content": 7}), "bad_response", False, id="content-of-another-type"),
        pytest.param(_body({"tool_calls": {"a": 1}}), "bad_response", False,
                     id="tool-calls-of-another-type"),
        pytest.param(_calls({"id": "c1"}), "bad_response", False, id="a-call-without-function"),
        pytest.param(_calls("t"), "bad_response", False, id="a-call-that-is-no-object"),
        pytest.param(_calls(_entry(), {"function": None}), "bad_response", False,
                     id="one-call-of-two-without-function"),
        pytest.param({"choices": [{"error": {"code": 502}, "message": {"content": ""}}]},
                     "api_error", True, id="an-error-in-the-choice"),
        pytest.param({"choices": [{"error": {"code": 502}, "message": {"content": "half"}}]},
                     "api_error", False, id="an-error-after-some-output"),
    ],
)  # fmt: skip
def test_what_is_no_answer(body: Any, code: str, repeatable: bool) -> None:
    problem = _read(body)

    assert isinstance(problem, Problem)
    assert (problem.code, problem.repeatable) == (ErrorCode(code), repeatable)


@pytest.mark.parametrize(
    ("body", "flags"),
    [
        pytest.param(TEXT, (), id="a-text"),
        pytest.param(_calls(_entry()), (), id="a-call"),
        pytest.param(_calls(_entry(), reason="stop"), (Flag.FINISH_MISMATCH,), id="stop"),
        pytest.param(_body({"content": "a"}, "tool_calls"), (Flag.FINISH_MISMATCH,), id="no-call"),
        pytest.param(_calls(_entry(), reason="function_calls"), (Flag.FINISH_UNKNOWN,), id="other"),
        pytest.param(_body({"content": "a"}, "eos"), (Flag.FINISH_UNKNOWN,), id="eos"),
        pytest.param(_body({"content": "a"}, None), (), id="no-reason"),
        pytest.param(_body({"content": "a"}, "length"), (Flag.FINISH_LENGTH,), id="length"),
        pytest.param({**TEXT, "usage": None}, (Flag.USAGE_UNKNOWN,), id="no-usage"),
        pytest.param({**TEXT, "usage": {"total_tokens": 3}}, (Flag.USAGE_UNKNOWN,), id="partial"),
        pytest.param({**TEXT, "model": "other"}, (Flag.MODEL_MISMATCH,), id="another-model"),
        pytest.param({**TEXT, "model": None}, (), id="no-model"),
        pytest.param({**TEXT, "object": 1, "x": {}}, (), id="unknown-fields"),
        pytest.param(_body({"content": "", "refusal": "No."}), (Flag.REFUSAL,), id="a-refusal"),
        pytest.param(_body({"content": ""}), (), id="an-empty-answer-of-some-tokens"),
        pytest.param(_body({"content": "<think>a</think>b"}), (Flag.THINK_IN_CONTENT,), id="think"),
    ],
)
def test_flags_of_an_answer(body: Any, flags: tuple[Flag, ...]) -> None:
    assert _reply(body).flags == flags


@pytest.mark.parametrize(
    ("entry", "flags"),
    [
        pytest.param(_entry(), (), id="as-it-should-be"),
        pytest.param(_entry(id=None), (Flag.ID_SYNTHESISED,), id="no-id"),
        pytest.param(_entry(id=7), (Flag.ID_SYNTHESISED,), id="an-id-that-is-no-text"),
        pytest.param(_entry(type=""), (Flag.TYPE_MISSING,), id="no-type"),
        pytest.param(_entry(name=""), (Flag.NAME_MISSING,), id="an-empty-name"),
        pytest.param(_entry(name=None), (Flag.NAME_MISSING,), id="a-null-name"),
        pytest.param(_entry(name=["t"]), (Flag.NAME_MISSING,), id="a-name-that-is-no-text"),
        pytest.param(_entry(arguments=None), (Flag.ARGS_EMPTY,), id="no-arguments"),
        pytest.param(_entry(arguments={}), (Flag.ARGS_NOT_STRING,), id="an-object"),
        pytest.param(_entry(arguments='{"a": "b'), (Flag.LOOKS_TRUNCATED,), id="cut"),
    ],
)
def test_flags_of_a_call(entry: Any, flags: tuple[Flag, ...]) -> None:
    (call,) = _reply(_calls(entry)).calls

    assert call.flags == flags
    assert call.tool == (entry["function"]["name"] if Flag.NAME_MISSING not in flags else "")


@pytest.mark.parametrize(
    ("arguments", "reason", "limit", "flags"),
    [
        pytest.param('{"a": "b', "length", None, (Flag.FINISH_LENGTH,), id="length"),
        pytest.param('{"a": "b', "tool_calls", 7, (Flag.FINISH_LENGTH,), id="all-tokens-spent"),
        pytest.param('{"a": "b', "tool_calls", 8, (Flag.LOOKS_TRUNCATED,), id="tokens-left"),
        pytest.param('{"a": b}', "tool_calls", 7, (), id="not-cut"),
        pytest.param('{"a": "b"}', "length", 7, (), id="complete"),
    ],
)
def test_what_cut_a_call(
    arguments: str, reason: str, limit: int | None, flags: tuple[Flag, ...]
) -> None:
    reply = _reply(_calls(_entry(arguments=arguments), reason=reason), limit=limit)

    assert reply.calls[0].flags == flags
    assert (Flag.FINISH_LENGTH in reply.flags) == (
        reason == "length" or Flag.FINISH_LENGTH in flags
    )


def test_the_lowest_index_is_the_answer() -> None:
    choices = [
        {"index": 1, "message": {"content": "second"}},
        {"index": 0, "message": {"content": "first"}, "finish_reason": "stop"},
        {"message": {"content": "none"}},
    ]

    reply = _reply({"choices": choices, "usage": USAGE})

    assert (reply.text, reply.flags) == ("first", (Flag.EXTRA_CHOICES,))


def test_calls_may_stand_in_another_choice() -> None:
    choices = [
        {"index": 0, "message": {"content": "I look."}, "finish_reason": "tool_calls"},
        {"index": 1, "message": {"content": None, "tool_calls": [_entry()]}},
    ]

    reply = _reply({"choices": choices, "usage": USAGE})

    assert [call.tool for call in reply.calls] == ["t"]
    assert Flag.SPLIT_CHOICES in reply.flags
    assert reply.text == "I look."


def test_calls_in_another_choice_are_looked_at_as_closely() -> None:
    choices = [
        {"index": 0, "message": {"content": "I look."}, "finish_reason": "tool_calls"},
        {"index": 1, "message": {"content": None, "tool_calls": [{"id": "c1"}]}},
    ]

    problem = _read({"choices": choices})

    assert isinstance(problem, Problem)
    assert problem.message == "an entry of tool_calls has no function object"


def test_an_old_function_call_is_a_call() -> None:
    message = {"content": None, "function_call": {"name": "t", "arguments": '{"a": 1}'}}

    reply = _reply(_body(message, "function_call"))

    assert [(call.tool, call.arguments) for call in reply.calls] == [("t", {"a": 1})]
    assert reply.calls[0].flags == reply.flags == (Flag.LEGACY_FUNCTION_CALL,)


@pytest.mark.parametrize("field", ["finish_reason", "native_finish_reason"])
def test_a_reported_broken_call_is_one_without_a_name(field: str) -> None:
    body = _body({"content": None}, "stop", usage={"completion_tokens": 0})
    body["choices"][0][field] = "function_call_filter: MALFORMED_FUNCTION_CALL"

    reply = _reply(body)

    assert reply.broken
    assert [(call.tool, call.arguments) for call in reply.calls] == [(None, None)]
    assert reply.exchange.body is not None


@pytest.mark.parametrize(
    ("message", "text", "reasoning", "refusal"),
    [
        pytest.param({"content": "a"}, "a", "", None, id="a-text"),
        pytest.param({"content": None}, "", "", None, id="null"),
        pytest.param({}, "", "", None, id="nothing"),
        pytest.param(
            {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
            "ab", "", None, id="parts",
        ),
        pytest.param(
            {"content": [{"type": "thinking", "thinking": "t"}, {"type": "text", "text": "a"}]},
            "a", "t", None, id="thinking-parts",
        ),
        pytest.param(
            {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "t"}]}]},
            "", "t", None, id="thinking-in-parts",
        ),
        pytest.param({"content": ["a", None, 1]}, "a", "", None, id="parts-of-other-types"),
        pytest.param({"content": "<think>t</think>a"}, "a", "t", None, id="think-tags"),
        pytest.param({"content": "t</think>\n\na"}, "a", "t", None, id="an-orphan-closing-tag"),
        pytest.param({"content": "<think>t"}, "", "t", None, id="never-closed"),
        pytest.param(
            {"content": "<think>a</think>b<think>c</think>d"}, "d",
            "a</think>b<think>c", None, id="the-last-closing-tag",
        ),
        pytest.param({"content": "a <think> b"}, "a <think> b", "", None, id="in-the-middle"),
        pytest.param(
            {"content": "a", "reasoning": "t", "reasoning_content": "t"}, "a", "t", None,
            id="the-same-reasoning-under-two-names",
        ),
        pytest.param({"content": "", "refusal": "No."}, "", "", "No.", id="a-refusal"),
        pytest.param(
            {"content": [{"type": "refusal", "refusal": "No."}]}, "", "", "No.",
            id="a-part-that-refuses",
        ),
    ],
)  # fmt: skip
def test_read_content(message: Any, text: str, reasoning: str, refusal: str | None) -> None:
    assert read_content(message) == (text, reasoning, refusal)


@pytest.mark.parametrize(
    ("value", "usage"),
    [
        pytest.param(None, None, id="nothing"),
        pytest.param({}, None, id="empty"),
        pytest.param([1], None, id="a-list"),
        pytest.param({"prompt_tokens": True, "total_tokens": -1}, None, id="no-counts"),
        pytest.param({"prompt_tokens": "5"}, None, id="a-text-is-no-count"),
        pytest.param(USAGE, Usage(prompt_tokens=5, completion_tokens=7, total_tokens=12), id="all"),
        pytest.param(
            {"completion_tokens": 0, "total_tokens": None},
            Usage(completion_tokens=0, partial=True),
            id="some",
        ),
    ],
)
def test_read_usage(value: Any, usage: Usage | None) -> None:
    assert read_usage(value) == usage


@pytest.mark.parametrize(
    ("answered", "same"),
    [
        pytest.param("openai/gpt-4o", True, id="the-name"),
        pytest.param("OpenAI/GPT-4o", True, id="another-case"),
        pytest.param("gpt-4o", True, id="without-the-provider"),
        pytest.param("gpt-4o-2024-08-06", True, id="a-dated-snapshot"),
        pytest.param("openai/gpt-4o:free", True, id="a-variant-of-the-gateway"),
        pytest.param("gpt-4o-mini", False, id="a-smaller-one"),
        pytest.param("gpt-4", False, id="an-older-one"),
        pytest.param("o", False, id="the-end-of-its-name"),
    ],
)
def test_same_model(answered: str, same: bool) -> None:
    assert same_model("openai/gpt-4o", answered) == same


def test_the_exchange_has_all_that_came() -> None:
    body = b'\n {"choices": [{"message": {"content": "\\ud800"}}], "provider": "P", "model": "m"}'

    exchange = _reply(body).exchange

    assert (exchange.body, exchange.body_encoding) == (body.decode(), None)
    assert (exchange.provider, exchange.model, exchange.status) == ("P", "m", 200)


@pytest.mark.parametrize(
    "prefix", [b"", b"\xef\xbb\xbf", b" \r\n\t"], ids=["none", "byte-order-mark", "blanks"]
)
def test_what_may_stand_before_json(prefix: bytes) -> None:
    assert _reply(prefix + json.dumps(TEXT).encode()).text == "hi"


WORDS = st.sampled_from(
    ["choices", "message", "content", "tool_calls", "function", "name", "arguments", "index",
     "finish_reason", "usage", "completion_tokens", "error", "code", "type", "text", "thinking",
     "id", "function_call", "refusal", "metadata", "headers", "detail", "model", "tool_use_failed"]
)  # fmt: skip
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=25,
)


@given(ANYTHING | st.builds(_body, ANYTHING, ANYTHING) | st.builds(_calls, ANYTHING, ANYTHING))
def test_no_body_breaks_the_reader(body: Any) -> None:
    for status in (200, 400):
        read = read_response(
            Response(status=status, body=json.dumps(body).encode()), Asked(model="m")
        )

        assert isinstance(read, Reply) or "can't be read" not in read.message
