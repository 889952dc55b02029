"""`embedded/rules-v1`: what a small keyword agent says next in the retail world.

The agent is honest: it sees the messages and the tools of a request, as any model does, and never
a case or a golden call. It reads the customer's sentences by keywords and identifier patterns,
plans the calls once, and follows the plan call by call. It knows no grammar, so it errs as keyword
agents do: by a negation it does not see, a word of two meanings, an address in an unusual order.
The words stand in `domains.rules_words`; how answers travel is asked in `client.embedded`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from fc_eval.domains import rules_words as words
from fc_eval.domains.rules_words import Table
from fc_eval.records.codec import JsonValue

Message: TypeAlias = Mapping[str, Any]

# --- from a conversation to the next message


def next_message(messages: Sequence[Message], tools: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Answer a conversation as a chat-completions model would.

    Args:
        messages: The conversation in the OpenAI form; the last user message is the request.
        tools: The request's `tools`, in the OpenAI form.

    Returns:
        An assistant message: `content`, or one entry in `tool_calls` whose `arguments` are JSON
        text. The same inputs give the same message, ids included.
    """
    text, results = _read(messages)
    chinese = re.search(r"[\u4e00-\u9fff]", text) is not None
    schemas = {tool["function"]["name"]: tool["function"].get("parameters", {}) for tool in tools}
    steps = [step for step in plan(text) if step.tool in schemas]
    if results and isinstance(results[-1], dict) and "error" in results[-1]:
        return _say("抱歉，这一步没有办成。" if chinese else "Sorry, that did not work.")
    if len(results) >= len(steps):
        if results:
            return _say("已为您处理好。" if chinese else "That is done.")
        return _say("您好，请问有什么可以帮您？" if chinese else "Hello, what can I do for you?")
    step = steps[len(results)]
    arguments, missing = _fill(step, schemas[step.tool], results)
    if missing:
        wanted = ", ".join(missing)
        return _say(f"请告诉我：{wanted}。" if chinese else f"Please tell me: {wanted}.")
    return _call(len(results) + 1, step.tool, arguments)


def _read(messages: Sequence[Message]) -> tuple[str, list[JsonValue]]:
    """The last user message, and the results of the tools that ran since."""
    last = max((at for at, m in enumerate(messages) if m.get("role") == "user"), default=-1)
    if last < 0:
        return "", []
    results = [_json(m.get("content")) for m in messages[last:] if m.get("role") == "tool"]
    return str(messages[last].get("content") or ""), results


def _json(content: object) -> JsonValue:
    try:
        return json.loads(str(content))
    except ValueError:
        return content


def _fill(
    step: Step, schema: Mapping[str, Any], results: Sequence[JsonValue]
) -> tuple[dict[str, JsonValue], list[str]]:
    """The step's arguments as the tool takes them, and the required ones that nobody told."""
    properties, required = schema.get("properties", {}), schema.get("required", [])
    taken = {
        name: step.arguments[name]
        for name, rules in properties.items()
        if name in step.arguments
        and step.arguments[name] in rules.get("enum", [step.arguments[name]])
    }
    for name in required:
        # What the customer left out may be plain from the call before: the id of the action that
        # it opened, or the one item of the order that it looked up.
        seen = set(_values(name, results[-1:])) if name in words.IDS and name not in taken else ()
        if len(seen) == 1:
            taken[name] = seen.pop()
    missing = [name for name in required if name not in taken]
    for name, value in taken.items():
        inner = properties[name].get("required", []) if isinstance(value, dict) else []
        missing += [part for part in inner if part not in value]
    return taken, missing


def _values(name: str, value: JsonValue) -> Iterator[str]:
    """Every text that stands under the key *name*, at any depth."""
    if isinstance(value, dict):
        if isinstance(value.get(name), str):
            yield value[name]
        value = list(value.values())
    if isinstance(value, Sequence) and not isinstance(value, str):
        for item in value:
            yield from _values(name, item)


def _say(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def _call(number: int, tool: str, arguments: Mapping[str, JsonValue]) -> dict[str, Any]:
    function = {"name": tool, "arguments": json.dumps(arguments, ensure_ascii=False)}
    call = {"id": f"call_{number}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


# --- from a text to a plan


@dataclass(frozen=True, slots=True)
class Step:
    """One planned call.

    A confirm or an abort without an `action_id` resolves the request right before it.
    """

    tool: str
    arguments: Mapping[str, JsonValue]


def plan(text: str) -> list[Step]:
    """The calls that a customer's text asks for, in order, as far as keywords tell."""
    steps: list[Step] = []
    for sentence in filter(str.strip, words.SENTENCE_END.split(text)):
        meant = words.NOT_MEANT.sub(" ", sentence)
        if words.IDLE_TALK.search(meant) and not words.ORDERED_NOW.search(meant):
            continue
        request = _request(meant)
        if request is None:
            found = _reads(sentence, meant, text)
        else:
            found = [*_look_first(meant, text), Step(request, _arguments(request, sentence, text))]
        steps += [step for step in found if step not in steps]
        _resolve(steps, meant)
    return steps


def _request(meant: str) -> str | None:
    if words.IDS["action_id"].search(meant) or words.READS["get_return_policy"].search(meant):
        return None
    found = [tool for tool, pattern in words.REQUESTS.items() if pattern.search(meant)]
    # "Send it back and refund me" is a return; a refund alone leaves the goods where they are.
    if found[:1] == ["request_refund"] and "request_return" in found:
        return "request_return"
    return found[0] if found else None


def _look_first(meant: str, text: str) -> list[Step]:
    orders = _ids(meant, text)["order_id"]
    wanted = orders and words.LOOK_FIRST.search(meant)
    return [Step("get_order", {"order_id": orders[0]})] if wanted else []


def _reads(sentence: str, meant: str, text: str) -> list[Step]:
    own, known = _ids(sentence, ""), _ids(sentence, text)
    for tool, pattern in words.READS.items():
        if tool == "list_orders" and (own["order_id"] or not known["user_id"]):
            continue
        if tool in words.READ_SUBJECT:
            subject = words.READ_SUBJECT[tool]
            subjects = own[subject] or ([] if any(own.values()) else known[subject])
            if subjects and pattern.search(meant):
                return [Step(tool, {subject: one}) for one in subjects]
        elif pattern.search(meant):
            return [Step(tool, _arguments(tool, sentence, text))]
    return []


def _resolve(steps: list[Step], meant: str) -> None:
    """Put a confirm or an abort behind each request that has none yet."""
    tool = next((tool for tool, pattern in words.RESOLVERS.items() if pattern.search(meant)), None)
    if tool is None:
        return
    named = words.IDS["action_id"].findall(meant)
    if named:
        steps += [Step(tool, {"action_id": action}) for action in named]
        return
    for place in range(len(steps), 0, -1):
        resolved = place < len(steps) and steps[place].tool in words.RESOLVERS
        if steps[place - 1].tool in words.REQUESTS and not resolved:
            steps.insert(place, Step(tool, {}))


# --- from a text to arguments


def _ids(sentence: str, text: str) -> dict[str, list[str]]:
    """The identifiers of a sentence by parameter; where it has none of a sort, the text's."""
    return {
        name: list(
            dict.fromkeys(
                # Customers are careless with capitals; an action_id is a copied text.
                found if name == "action_id" else found.upper()
                for found in pattern.findall(sentence) or pattern.findall(text)
            )
        )
        for name, pattern in words.IDS.items()
    }


def _arguments(tool: str, sentence: str, text: str) -> dict[str, JsonValue]:
    ids = _ids(sentence, text)
    found: dict[str, JsonValue] = {name: values[0] for name, values in ids.items() if values}
    found["replacement_item_id"] = ids["item_id"][1] if len(ids["item_id"]) > 1 else None
    found["status"] = _label(words.STATUSES, sentence)
    found["category"] = _label(words.CATEGORIES, sentence)
    found["placed_on"] = _date(sentence)
    if tool in words.REASONS:
        found["reason"] = _label(words.REASONS[tool], sentence) or _label(words.REASONS[tool], text)
        found["explanation"] = _explanation(words.REASONS[tool], sentence, text)
    if tool == "request_return":
        found["quantity"] = _quantity(sentence)
    if tool == "request_refund":
        found["amount"] = _amount(text)
    if tool == "request_address_update":
        found["new_address"] = _address(text)
    return {name: value for name, value in found.items() if value is not None}


def _label(table: Table, text: str) -> str | None:
    return next((label for label, pattern in table.items() if pattern.search(text)), None)


def _date(text: str) -> str | None:
    found = words.DATE.search(text)
    return found and f"{int(found[1]):04}-{int(found[2]):02}-{int(found[3]):02}"


def _amount(text: str) -> int | float | None:
    found = words.AMOUNT.search(text)
    value = float(found[1] or found[2]) if found else 0.0
    return (int(value) if value.is_integer() else value) or None


def _quantity(text: str) -> int | None:
    found = words.QUANTITY.search(text)
    value = (words.DIGITS.get(found[1]) or int(found[1])) if found else 1
    return value if value > 1 else None


def _explanation(reasons: Table, *texts: str) -> str | None:
    """The first clause that gives a reason, in the customer's words."""
    clauses = [clause.strip() for text in texts for clause in words.CLAUSE_END.split(text)]
    return next((clause for clause in clauses if _label(reasons, clause)), None)


def _address(text: str) -> dict[str, str] | None:
    start = words.ADDRESS_START.search(text)
    found: dict[str, str] = {}
    for part in words.CLAUSE_END.split(text[start.end() :] if start else text):
        for name, value in _address_fields(part.strip(" ：:")):
            found.setdefault(name, value)
    return found or None


def _address_fields(part: str) -> Iterator[tuple[str, str]]:
    for name, label in words.ADDRESS_LABELS.items():
        if label.search(part) and name != "street":
            yield name, label.sub("", part).strip()
            return
    part = words.ADDRESS_LABELS["street"].sub("", part)
    postal = words.POSTAL_CODE.search(part)
    if postal:
        yield "postal_code", postal[0]
        part = re.sub(r"\s*(邮编)?\s*" + postal[0], "", part)
    city = words.CITY.search(part)
    if city:
        yield "city", city[1] or city[2]
        part = part[: city.start()] + part[city.end() :]
    if words.STREET.search(part):
        yield "street", part.strip()
    elif 2 <= len(part.strip()) <= 20:
        yield "recipient", part.strip()
