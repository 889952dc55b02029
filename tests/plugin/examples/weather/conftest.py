"""A project of its own: two tools, and an agent that does what the instruction spells out."""

import json
import os
import signal
import time

import pytest

import fc_eval

TOOLS = [
    {
        "type": "function",
        "kind": "read",
        "function": {
            "name": "get_weather",
            "description": "The weather in a city.",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
                "required": ["city"],
                "additionalProperties": False,
            },
        },
    },
    {
        "type": "function",
        "kind": "write",
        "function": {
            "name": "send_alert",
            "description": "Warn the people of a city.",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "text": {"type": "string"}},
                "required": ["city", "text"],
                "additionalProperties": False,
            },
        },
    },
]


def pytest_fc_domain(config):
    return fc_eval.Domain.build(
        tools=TOOLS,
        sandbox={
            "get_weather": lambda city, days=1: {"city": city, "sky": "clear"},
            "send_alert": lambda city, text: "sent",
        },
        system_prompt="You work for a weather service.",
        known_ids={"city": {"Oslo", "Bergen"}},
    )


seen = {}


def act(task):
    """Every line `tool {json}` of the instruction is a call; other words are for special ends.

    The environment can make it worse: `FLIP` names instructions that it gets wrong, by a word of
    theirs, `FLAKY` those that it gets wrong every second time.
    """
    words = task.instruction.split()
    flaky = set(os.environ.get("FLAKY", "").split()) & set(words)
    seen[task.instruction] = seen.get(task.instruction, 0) + 1
    if set(os.environ.get("FLIP", "").split()) & set(words) or (
        flaky and seen[task.instruction] % 2
    ):
        task.call("get_weather", {"city": "Bergen"})
        return "done"
    for line in task.instruction.splitlines():
        word, _, rest = line.partition(" ")
        if word in ("get_weather", "send_alert", "no_such_tool"):
            task.call(word, json.loads(rest))
        elif word == "raise":
            raise RuntimeError(rest)
        elif word == "wait":
            time.sleep(float(rest))
        elif word == "die":
            os.kill(os.getpid(), signal.SIGKILL)
    return "done"


@pytest.fixture(scope="session")
def fc_agent():
    return act
