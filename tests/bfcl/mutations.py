"""Answers to hold against two checkers: right ones, and right ones that something happened to.

Everything is drawn from the seeded generator that is passed in, so a run can be repeated.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fc_eval.bfcl.entries import BfclEntry
from fc_eval.bfcl.tools import tool_name

Calls = list[tuple[str, Any]]


def right_calls(entry: BfclEntry, rng: random.Random) -> Calls:
    """Calls that the labels allow, by documented name, each value drawn from the allowed ones."""
    documents = {function["name"]: function["parameters"] for function in entry.functions}
    calls: Calls = []
    for label in entry.ground_truth or ():
        ((name, allowed),) = label.items()
        documented = entry.functions[0]["name"] if len(entry.functions) == 1 else name
        calls.append((documented, _right_arguments(documents[documented], allowed, rng)))
    return calls


def _right_arguments(
    parameters: Mapping[str, Any], allowed: Mapping[str, Sequence[Any]], rng: random.Random
) -> dict[str, Any]:
    arguments = {}
    for param, values in allowed.items():
        unusable = param not in parameters["properties"] or set(map(str, values)) == {""}
        omitted = unusable or rng.random() < 0.5
        if "" in values and param not in parameters["required"] and omitted:
            continue
        choices = [value for value in values if value != ""] or list(values)
        if not choices:
            continue
        schema = parameters["properties"].get(param, {})
        arguments[param] = _right_value(copy.deepcopy(rng.choice(choices)), schema, rng)
    return arguments


def _right_value(value: Any, schema: Mapping[str, Any], rng: random.Random) -> Any:
    if schema.get("type") == "dict" and isinstance(value, dict):
        return {
            key: rng.choice([choice for choice in choices if choice != ""] or [""])
            for key, choices in value.items()
            if "" not in choices or rng.random() < 0.5
        }
    if schema.get("items", {}).get("type") == "dict" and isinstance(value, list):
        return [_right_value(item, {"type": "dict"}, rng) for item in value]
    return value


def mutate(entry: BfclEntry, calls: Calls, rng: random.Random) -> Calls:
    """Let one thing happen to the calls."""
    calls = copy.deepcopy(calls)
    change = rng.choice(_CALL_CHANGES if not calls or rng.random() < 0.15 else _ARGUMENT_CHANGES)
    change(entry, calls, rng)
    return calls


def tool_calls(calls: Calls) -> list[dict[str, Any]]:
    """The calls as they come over a tools API."""
    return [{"name": tool_name(name), "arguments": json.dumps(value)} for name, value in calls]


def broken_tool_calls(calls: Calls, rng: random.Random) -> list[dict[str, Any]]:
    """The calls over a tools API, some with a dotted name or an argument text that is broken."""
    sent = tool_calls(calls)
    for call, (name, _) in zip(sent, calls, strict=True):
        if rng.random() < 0.1:
            call["arguments"] = rng.choice(_GARBAGE)(call["arguments"])
        if rng.random() < 0.05:
            call["name"] = name
    return sent


def prompt_text(calls: Calls) -> str:
    """The calls as Python text, as a model in prompt mode is asked to write them."""
    texts = []
    for name, arguments in calls:
        keywords = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
        texts.append(f"{name}({keywords})")
    return f"[{', '.join(texts)}]"


def broken_prompt_text(calls: Calls, rng: random.Random) -> str:
    """The calls as Python text, as models in prompt mode do write them."""
    text = ", ".join(f"{name}({_keywords(arguments, rng)})" for name, arguments in calls)
    if rng.random() < 0.8:
        text = f"[{text}]"
    if rng.random() < 0.2:
        text = f"```\n{text}\n```"
    return rng.choice(_TEXT_GARBAGE)(text) if rng.random() < 0.1 else text


def _keywords(arguments: Any, rng: random.Random) -> str:
    if not isinstance(arguments, dict):
        return repr(arguments)
    return ", ".join(f"{key}={_literal(value, rng)}" for key, value in arguments.items())


def _literal(value: Any, rng: random.Random) -> str:
    chance = rng.random()
    if chance < 0.03 and isinstance(value, list):
        return repr(tuple(value))
    if chance < 0.03 and isinstance(value, str) and value.isidentifier():
        return value
    if chance < 0.03 and isinstance(value, int) and not isinstance(value, bool):
        return rng.choice([f"{value - 1} + 1", f"{value} * 1", f"{value} / 1", f"+{value}"])
    if chance < 0.04:
        return rng.choice(_ODD_LITERALS)
    return repr(value)


_ODD_LITERALS = (
    "today()",
    "make(a=1)",
    "rows[0]",
    "rows['a b'][1:2]",
    "-x",
    "not True",
    "~3",
    "...",
    "b'raw'",
    "2j",
    "null",
    "true",
    "{**rest}",
    "{[1]: 2}",
    "{1: 2}",
    "lambda: 1",
    "f'{x}'",
    "{1, 2}",
    "Color.RED",
    "1 < 2",
    "[x for x in y]",
    "'a' + 'b'",
    "'ab' * 2",
    "[1] + [2]",
    "(1, 2) + (3,)",
    "1 / 0",
    "2 ** 10",
    "2 ** -1",
    "7 // 2",
    "7 % 4",
    "-(2 + 3)",
    "3 - -3",
    "x + 1",
    "1 @ 2",
    "'\\d'",
    "1_000",
    "0x10",
    "float('nan')",
    "- 5",
    "(5)",
    "*rest",
)


def _some_arguments(calls: Calls, rng: random.Random) -> dict[str, Any]:
    arguments = rng.choice(calls)[1]
    return arguments if isinstance(arguments, dict) else {}


def _rename_call(entry: BfclEntry, calls: Calls, rng: random.Random) -> None:
    if calls:
        at = rng.randrange(len(calls))
        name, arguments = calls[at]
        others = [function["name"] for function in entry.functions]
        names = [name.upper(), f"{name}_", name.rpartition(".")[2], "made_up", "", *others]
        calls[at] = (rng.choice(names), arguments)


def _drop_call(entry: BfclEntry, calls: Calls, rng: random.Random) -> None:
    if calls:
        del calls[rng.randrange(len(calls))]


def _repeat_call(entry: BfclEntry, calls: Calls, rng: random.Random) -> None:
    if calls:
        calls.insert(rng.randrange(len(calls) + 1), copy.deepcopy(rng.choice(calls)))


def _replace_call(entry: BfclEntry, calls: Calls, rng: random.Random) -> None:
    if len(calls) > 1:
        calls[rng.randrange(len(calls))] = copy.deepcopy(rng.choice(calls))


def _shuffle_calls(entry: BfclEntry, calls: Calls, rng: random.Random) -> None:
    rng.shuffle(calls)


def _new_call(entry: BfclEntry, calls: Calls, rng: random.Random) -> None:
    names = [function["name"] for function in entry.functions] or ["made_up"]
    calls.append((rng.choice(names), {}))


def _drop_argument(entry: BfclEntry, calls: Calls, rng: random.Random) -> None:
    arguments = _some_arguments(calls, rng)
    if arguments:
        del arguments[rng.choice(list(arguments))]


def _add_argument(entry: BfclEntry, calls: Calls, rng: random.Random) -> None:
    documented = {
        param: schema.get("default")
        for function in entry.functions
        for param, schema in function["parameters"]["properties"].items()
    }
    documented["made_up"] = 1
    param = rng.choice(list(documented))
    _some_arguments(calls, rng)[param] = documented[param]


def _rename_argument(entry: BfclEntry, calls: Calls, rng: random.Random) -> None:
    arguments = _some_arguments(calls, rng)
    if arguments:
        param = rng.choice(list(arguments))
        arguments[rng.choice([param.upper(), f"{param}_", f" {param}"])] = arguments.pop(param)


def _reorder_arguments(entry: BfclEntry, calls: Calls, rng: random.Random) -> None:
    arguments = _some_arguments(calls, rng)
    items = list(arguments.items())
    rng.shuffle(items)
    arguments.clear()
    arguments.update(items)


def _swap_arguments(entry: BfclEntry, calls: Calls, rng: random.Random) -> None:
    arguments = _some_arguments(calls, rng)
    if len(arguments) > 1:
        one, other = rng.sample(list(arguments), 2)
        arguments[one], arguments[other] = arguments[other], arguments[one]


def _change_value(entry: BfclEntry, calls: Calls, rng: random.Random) -> None:
    arguments = _some_arguments(calls, rng)
    if arguments:
        # Lists and objects are rare in the data, and have most of the rules.
        containers = [param for param in arguments if isinstance(arguments[param], list | dict)]
        param = rng.choice(containers or list(arguments))
        arguments[param] = _changed(arguments[param], rng)


def _changed(value: Any, rng: random.Random) -> Any:
    """The value, or something inside it, in another form."""
    if isinstance(value, list | dict) and value and rng.random() < 0.7:
        at: Any = rng.randrange(len(value)) if isinstance(value, list) else rng.choice(list(value))
        value[at] = _changed(value[at], rng)
        return value
    forms: list[Any] = [None, "", [], {}, 0, 1, True, "made up", [value], {"a": value}, str(value)]
    if isinstance(value, str):
        forms += [value.upper(), value.lower(), f" {value}", f"{value}.", f"{value}!", f"{value}\n"]
        forms += [value.replace(" ", "_"), value.replace("'", '"'), "-" + value, value[:-1]]
        forms += [value.replace(" ", "\u00a0"), f"({value})", list(value), f"{value}Σ"]
    elif isinstance(value, bool):
        forms += [int(value), str(value), not value]
    elif isinstance(value, int | float):
        forms += [value + 1, -value, float(value), int(value), value * 1.0000001, bool(value)]
    elif isinstance(value, list):
        forms += [value[::-1], value[1:], [*value, *value], tuple(value), [*value, None]]
    elif isinstance(value, dict) and value:
        forms += [list(value), list(value.values()), dict(list(value.items())[1:])]
        forms += [{**value, "made_up": 1}, {key.upper(): item for key, item in value.items()}]
    return rng.choice(forms)


_CALL_CHANGES = (
    _rename_call,
    _drop_call,
    _repeat_call,
    _replace_call,
    _shuffle_calls,
    _new_call,
)
_ARGUMENT_CHANGES = (
    _drop_argument,
    _add_argument,
    _rename_argument,
    _reorder_arguments,
    _swap_arguments,
    *[_change_value] * 6,
)
_GARBAGE: Sequence[Callable[[str], str]] = (
    lambda text: "",
    lambda text: text[:-1],
    lambda text: text + "}",
    lambda text: json.dumps(text),
    lambda text: f"[{text}]",
    lambda text: "null",
    lambda text: "[]",
    lambda text: "5",
    lambda text: "NaN",
    lambda text: '"text"',
    lambda text: "{}",
    lambda text: text.replace('"', "'"),
    lambda text: text.replace("}", ",}"),
    lambda text: text.replace(": ", ": NaN, ", 1),
    lambda text: f" {text}\n",
    lambda text: f"\ufeff{text}",
    lambda text: text[:-1] + ', "a": ' + "9" * 5000 + "}",
    lambda text: '{"a": ' + "[" * 5000 + "]" * 5000 + "}",
    lambda text: text.replace("{", '{"a": 1, "a": 2, ', 1),
    lambda text: text.replace("1", "1e400"),
    lambda text: text.replace("1", "-0"),
)
_TEXT_GARBAGE: Sequence[Callable[[str], str]] = (
    lambda text: "",
    lambda text: "[]",
    lambda text: "[[]]",
    lambda text: "no function fits",
    lambda text: "done",
    lambda text: f"Sure: {text}",
    lambda text: text[:-2],
    lambda text: f"'{text}'",
    lambda text: f"[{text}]",
    lambda text: f"{text}, {text}",
    lambda text: text.replace("(", "(1, ", 1),
    lambda text: text.replace("(", "(**rest, ", 1),
    lambda text: text.replace("(", "(*rest, ", 1),
    lambda text: text.replace("=", ":"),
    lambda text: text.replace("[", "[a.b().c(x=1), ", 1),
    lambda text: text.replace("[", "[a()(x=1), ", 1),
    lambda text: f"{text}\n# done]",
    lambda text: f"{text}(x=1) #]",
    lambda text: "\x00",
    lambda text: "(" * 300,
    lambda text: "```python\n" + text + "\n```",
    lambda text: f"print({text})",
    lambda text: text.replace(", ", ",\n\t"),
    lambda text: f"{text}; {text}",
    lambda text: f"calls = {text}",
)
