"""A small shop to judge in, and short ways to write cases and traces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fc_eval.domains.protocol import Domain, Tool, ToolKind, Toolset
from fc_eval.records.calls import Call, ToolFault
from fc_eval.records.case import Case, Context, Dimension, Golden, GoldenCall, ParamRule
from fc_eval.records.codec import JsonValue
from fc_eval.records.run import Status, Trace

TEXT = {"type": "string", "minLength": 1}
ADDRESS = {
    "type": "object",
    "properties": {"city": TEXT, "item_id": TEXT, "note": {}},
    "required": ["city"],
    "additionalProperties": False,
}


def make_tool(
    name: str, kind: ToolKind, properties: Mapping[str, JsonValue], *required: str, **rules: Any
) -> Tool:
    """A tool that takes nothing but *properties*; *rules* are more keywords of its schema."""
    return Tool(
        name=name,
        kind=kind,
        function={
            "name": name,
            "parameters": {
                "type": "object",
                "properties": dict(properties),
                "required": list(required),
                "additionalProperties": False,
                **rules,
            },
        },
    )


TOOLSET = Toolset(
    [
        make_tool("get_user", ToolKind.READ, {"user_id": TEXT}, "user_id"),
        make_tool("list_orders", ToolKind.READ, {"user_id": TEXT, "placed_on": TEXT}, "user_id"),
        make_tool("get_order", ToolKind.READ, {"order_id": TEXT}, "order_id"),
        make_tool(
            "ship",
            ToolKind.REQUEST,
            {
                "order_id": TEXT,
                "quantity": {"type": "integer", "minimum": 1, "default": 1},
                "address": ADDRESS,
                "tags": {"type": "array", "items": TEXT},
                "note": {"type": ["string", "null"]},
                "anything": {},
            },
            "order_id",
        ),
        make_tool("refund", ToolKind.REQUEST, {"order_id": TEXT}, "order_id"),
        make_tool("confirm", ToolKind.CONFIRM, {"action_id": TEXT, "note": {}}, "action_id"),
        make_tool("abort", ToolKind.CONFIRM, {"action_id": TEXT}, "action_id"),
        make_tool("log", ToolKind.WRITE, {"text": TEXT}, "text"),
        make_tool("pick", ToolKind.READ, {"a": {}, "b": {"default": 1}}, maxProperties=1),
        make_tool(
            "label",
            ToolKind.READ,
            {"a": {}},
            patternProperties={"^x": {"type": "string"}},
            propertyNames={"maxLength": 3},
        ),
    ]
)

DOMAIN = Domain(
    toolset=TOOLSET,
    sandbox_factory=lambda case: NoSandbox(),
    known_ids={"order_id": {"W1", "W2", "W3"}, "item_id": {"I1"}, "user_id": {"U1"}},
)


class NoSandbox:
    """Nothing is run where traces are only judged."""

    def call(self, name: str, arguments: Mapping[str, JsonValue]) -> JsonValue:
        raise AssertionError(f"the judge ran {name}")


def golden_call(
    tool: str, rules: Mapping[str, str] | None = None, **params: JsonValue
) -> GoldenCall:
    return GoldenCall(
        tool=tool,
        params=params,
        param_rules=None if rules is None else {k: ParamRule(v) for k, v in rules.items()},
    )


def golden_confirm(tool: str = "confirm") -> GoldenCall:
    return golden_call(tool, {"action_id": "any"}, action_id="<from the request>")


def make_case(
    *calls: GoldenCall,
    ordered: bool = False,
    allowed: tuple[str, ...] | None = (),
    skip: bool = False,
    instruction: str = "Ship W1.",
) -> Case:
    return Case(
        id="shop-1",
        dimension=Dimension.D1,
        category="shop",
        instruction=instruction,
        context=Context(db_fixture="standard", notes="a test"),
        golden=Golden(calls=calls, order_sensitive=ordered, allowed_extra=allowed),
        negative=not calls,
        skip=skip,
        skip_reason="not today" if skip else None,
    )


def made(
    tool: str | None,
    *,
    returns: JsonValue = None,
    fails: str | None = None,
    unreadable: str | None = None,
    **arguments: JsonValue,
) -> Call:
    """A call as the model made it; its place in the trace is set by `make_trace`."""
    return Call(
        index=0,
        step=1,
        call_id=None,
        tool=tool,
        arguments=None if tool is None or unreadable is not None else arguments,
        arguments_raw=unreadable,
        parse_error=None if unreadable is None else "not JSON",
        result=returns,
        error=None if fails is None else ToolFault(code=fails, message="refused"),
    )


def requested(tool: str, action: str, **arguments: JsonValue) -> Call:
    return made(tool, returns={"action_id": action, "status": "pending"}, **arguments)


def make_trace(
    *calls: Call, status: Status = Status.COMPLETED, text: str | None = "Done."
) -> Trace:
    return Trace(
        case_id="shop-1",
        status=status,
        calls=tuple(
            Call(
                index=index,
                step=index + 1,
                call_id=f"call_{index}",
                tool=call.tool,
                arguments=call.arguments,
                arguments_raw=call.arguments_raw,
                parse_error=call.parse_error,
                result=call.result,
                error=call.error,
            )
            for index, call in enumerate(calls)
        ),
        final_text=text,
        steps=len(calls) + 1,
    )
