"""Content that a model or a server may send to do harm: recorded or refused, and never obeyed."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree

import pytest

from tests.plugin.endpoint import JSON, Answer, Asked, calling, completion, endpoint, error, project
from tests.plugin.endpoint import right as rightly
from tests.plugin.support import asks_oslo, last_run, read_json

ESC = "\x1b[2J\x1b]0;owned\x07\x1b[31m\x9b31m\r\n\x00\x08\u202e\u2028"
BIG = "x" * 400_000
DEEP = 10_000


def nested(depth: int) -> str:
    return '{"city": ' * depth + "1" + "}" * depth


def body_with(arguments: str) -> Answer:
    """An answer whose arguments are no text but the JSON that *arguments* spells."""
    status, headers, data = completion(calling(arguments="@@"))
    return status, headers, data.replace(b'"@@"', arguments.encode())


def text(content: str) -> Answer:
    return completion({"role": "assistant", "content": content})


# What is sent first, and which verdict comes of it.
HOSTILE: dict[str, tuple[Answer, str]] = {
    "escapes-in-a-text": (text(ESC), "FAIL"),
    "escapes-in-a-name": (completion(calling(name=ESC)), "FAIL"),
    "escapes-in-arguments": (completion(calling(arguments=json.dumps({ESC: ESC}))), "FAIL"),
    "escapes-in-malformed-arguments": (completion(calling(arguments="{" + ESC)), "FAIL"),
    "escapes-in-a-model-name": (completion(calling(), model=ESC, provider=ESC), "PASS"),
    "escapes-in-an-error": (error(400, ESC), "AGENT_ERROR"),
    "escapes-in-a-bare-error": ((400, {}, ESC.encode()), "AGENT_ERROR"),
    "escapes-in-keys": ((200, JSON, json.dumps({ESC: 1}).encode()), "AGENT_ERROR"),
    "megabytes-of-text": (text(BIG), "FAIL"),
    "megabytes-of-arguments": (completion(calling(arguments=json.dumps({"city": BIG}))), "FAIL"),
    "megabytes-of-a-name": (completion(calling(name=BIG)), "FAIL"),
    "megabytes-of-an-error": (error(400, BIG), "AGENT_ERROR"),
    "surrogates-in-a-text": (text("\ud83d"), "FAIL"),
    "surrogates-in-a-name": (completion(calling(name="\ud83d")), "FAIL"),
    "surrogates-in-arguments": (completion(calling(arguments='{"city": "\\ud83d"}')), "FAIL"),
    "surrogates-in-an-error": (error(400, "\ud83d"), "AGENT_ERROR"),
    "deep-arguments": (completion(calling(arguments=nested(DEEP))), "FAIL"),
    "deep-arguments-as-an-object": (body_with(nested(DEEP)), "AGENT_ERROR"),
    "arguments-near-the-limit": (body_with(nested(90)), "FAIL"),
    "a-deep-body": ((200, JSON, b"[" * DEEP + b"]" * DEEP), "AGENT_ERROR"),
    "a-deep-error": ((400, JSON, b'{"error":' * DEEP), "AGENT_ERROR"),
    "a-deep-result": (
        completion(calling("send_alert", '{"city": "Oslo", "text": "deep"}')),
        "AGENT_ERROR",
    ),
    "escapes-in-a-result": (
        completion(calling("send_alert", '{"city": "Oslo", "text": "esc"}')),
        "FAIL",
    ),
    "3000-parameters": (
        completion(calling(arguments=json.dumps({f"k{n}": n for n in range(3_000)}))),
        "FAIL",
    ),
    "2000-calls": (
        completion({**calling(), "tool_calls": calling()["tool_calls"] * 2000}),
        "AGENT_ERROR",
    ),
}

SANDBOX = '''
def alert(city, text):
    """A result that is as hostile as the model."""
    value = "\\x1b[2J\\x07\\ud800"
    for _ in range(10_000 if text == "deep" else 0):
        value = [value]
    return value
'''

# What a terminal acts on: controls of both blocks, marks of direction, line separators.
_ACTED_ON = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2028\u2029]")


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(("-q",), id="quiet"),
        pytest.param(("-q", "-n", "2"), id="with-workers"),
        pytest.param(("-vv", "--showlocals"), id="loud"),
    ],
)
def test_hostile_content_harms_nothing(pytester: pytest.Pytester, options: tuple[str, ...]) -> None:
    def answer(asked: Asked) -> Answer:
        name = asked.instruction.removeprefix("case ")
        return HOSTILE[name][0] if name in HOSTILE and not asked.step else rightly(asked)

    # A good case behind each hostile one.
    lines = [
        asks_oslo(case_id, f"case {case_id}")
        for name in HOSTILE
        for case_id in (name, f"after-{name}")
    ]
    with endpoint(answer) as model:
        project(pytester, model.base_url, *lines, retries=0)
        conftest = pytester.path / "conftest.py"
        source = conftest.read_text().replace('lambda city, text: "sent"', "alert")
        conftest.write_text(
            source.replace("def pytest_fc_domain", f"{SANDBOX}\n\ndef pytest_fc_domain")
        )
        result = pytester.runpytest_subprocess(
            "--fc-eval", "--color=no", "--junitxml=junit.xml", "--json-report", *options
        )

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    printed = result.stdout.str() + result.stderr.str()
    assert _ACTED_ON.findall(printed) == []
    verdicts = {
        found["case_id"]: found["verdict"]
        for found in read_json(last_run(pytester.path) / "report.json")["results"]
    }
    expected = {name: verdict for name, (_, verdict) in HOSTILE.items()}
    assert verdicts == expected | {f"after-{name}": "PASS" for name in HOSTILE}
    ElementTree.parse(pytester.path / "junit.xml")
    read_json(pytester.path / ".report.json")
    if "-q" in options:
        assert len(printed) < 200_000
