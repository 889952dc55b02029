"""Notes on oddities of an answer: for the trace and the report, never for the verdict.

Each note is a pure function of what came. What needs the golden calls, such as a value that is
nearly right, is asked in `report.faults`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fc_eval.domains.protocol import Toolset
from fc_eval.records.codec import JsonValue
from fc_eval.records.flags import Flag as Flag

if TYPE_CHECKING:
    from fc_eval.agent.protocol import ReadCall


def notes_on_call(call: ReadCall, toolset: Toolset) -> tuple[Flag, ...]:
    """What is odd about one call, by the toolset alone."""
    notes = list(_notes_on_name(call.tool, toolset))
    arguments = call.arguments or {}
    tool = toolset.get(call.tool)
    if tool is not None:
        required = tool.parameters.get("required") or ()
        faulty = {fault.param for fault in toolset.schema_faults(tool.name, dict(arguments))}
        nulls = [name for name, value in arguments.items() if value is None]
        if any(name in faulty and name not in required for name in nulls):
            notes.append(Flag.NULL_OPTIONAL)
        if _is_envelope(arguments) and not set(arguments) & set(tool.properties):
            notes += [Flag.NEAR_MISS_ARGS, Flag.NESTED_ENVELOPE]
    texts = list(_strings(arguments))
    if any("\ufffd" in text for text in texts):
        notes.append(Flag.REPLACEMENT_CHAR)
    if any(_SURROGATE.search(text) for text in texts):
        notes.append(Flag.LONE_SURROGATE)
    if any(INVISIBLE.search(text) for text in texts):
        notes.append(Flag.INVISIBLE_CHAR)
    return tuple(notes)


INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")
"""Characters that no reader sees: zero-width ones, marks of direction, soft hyphens."""

_SURROGATE = re.compile("[\ud800-\udfff]")


def _strings(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


_ARGUMENT_KEYS = (
    "arguments",
    "parameters",
    "args",
    "input",
    "params",
    "kwargs",
    "tool_input",
    "action_input",
)


def _is_envelope(value: JsonValue) -> bool:
    """Whether *value* is a whole call, or wraps one object in the place of arguments."""
    if not isinstance(value, dict):
        return False
    return any(isinstance(value.get(key), dict | str) for key in _ARGUMENT_KEYS)


_TOKEN = re.compile(r"<\|?[^<>|]{0,40}\|?>.*", re.DOTALL)
_FORMAT_WORDS = ("json", "python", "tool", "function", "call", "commentary", "()")


def _notes_on_name(name: str | None, toolset: Toolset) -> Iterator[Flag]:
    if not name or name in toolset:
        return
    known = {_plain_name(tool.name): tool.name for tool in toolset}
    cut = _TOKEN.sub("", name)
    glued = cut != name or any(
        name.startswith(tool) and _is_glue(name[len(tool) :], toolset) for tool in toolset.names()
    )
    if glued and cut:
        yield Flag.NEAR_MISS_NAME
        yield Flag.GLUED_NAME
    elif _plain_name(name) in known:
        yield Flag.NEAR_MISS_NAME


def _is_glue(rest: str, toolset: Toolset) -> bool:
    return rest in toolset or rest.strip("_:. ").lower() in _FORMAT_WORDS or rest[:1] in "({["


def _plain_name(name: str) -> str:
    """A name without namespace, blanks, case and joints."""
    last = re.split(r"[./:\\]|__", name.strip())[-1]
    return re.sub(r"[\W_]", "", last).lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class Notes:
    """Flags of a case, and what a reader should know of them."""

    flags: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def notes_on_text(text: str, reasoning: str, *, names: Sequence[str]) -> Notes:
    """What is odd about an answer that made no call.

    Args:
        text: What the model said.
        reasoning: What it thought, as far as that came.
        names: The tools that it could have called.
    """
    if not text.strip():
        found = text_dialect(reasoning, names)
        notes: tuple[str, ...] = (Flag.EMPTY_FINAL,)
    else:
        found = text_dialect(text, names)
        notes = (Flag.NARRATED_INTENT,) if found is None and is_narrated(text) else ()
    if found is None:
        return Notes(flags=notes)
    warning = (
        f"a call was written as text ({found}): the server's tool-call parser may be off or not"
        " fit the model (vLLM: --tool-call-parser; llama.cpp: --jinja)"
    )
    return Notes(flags=(*notes, Flag.TEXT_ENCODED_CALL), warnings=(warning,))


_ARGS = "|".join(_ARGUMENT_KEYS)
_NAMING = r"name|tool|function|tool_name|action|type"
_Q = """["']"""
_CALL_OBJECT = (
    rf"\{{\s*{_Q}(?:{_NAMING}){_Q}\s*:[^{{}}]*{_Q}(?:{_ARGS}){_Q}\s*:"
    rf"|\{{\s*{_Q}(?:{_ARGS}){_Q}\s*:\s*\{{[^{{}}]*\}}\s*,\s*{_Q}(?:{_NAMING}){_Q}\s*:"
    rf"|\{{\s*{_Q}type{_Q}\s*:\s*{_Q}function{_Q}\s*,\s*{_Q}function{_Q}\s*:\s*\{{"
    rf"|\{{\s*{_Q}(?:tool_calls?|function_call){_Q}\s*:\s*[\[{{]"
)
_DIALECTS: tuple[tuple[str, str], ...] = (
    ("qwen xml", r"(?:<tool_call>\s*)?<function=[\w.-]+>"),
    ("glm", r"<tool_call>\s*[\w.-]+\s*<arg_key>"),
    ("hermes", r"<tool_call>\s*[\[{]"),
    ("gemma", r"<\|?tool_call\|?>\s*call:|```tool_code"),
    ("granite", r"<\|tool_call\|>"),
    ("function gemma", r"<start_function_call>"),
    ("lfm", r"<\|tool_call_start\|>"),
    ("apertus", r"<\|tools_prefix\|>"),
    ("tool request", r"\[TOOL_REQUEST\]"),
    ("mistral", r"\[TOOL_CALLS\]"),
    ("llama", r"<\|python_tag\|>"),
    ("harmony", r"(?:<\|\w{1,20}\|>|[\w ]){0,99}?\bto=(?:functions\.)?[\w.-]+"),
    ("deepseek", r"<[|｜](?:tool[▁_ ]calls?[▁_ ](?:begin|sep)|DSML[|｜])"),
    ("kimi", r"<\|tool_calls?_(?:section_)?begin\|>"),
    (
        "invoke xml",
        r"<(?:\w+[:_])?(?:function_calls?|tool_calls?|tool_code|invoke|tool_use)\b[^>]*>",
    ),
    ("nemotron", r"<TOOLCALL>|<TOOL_CALL>"),
    ("cohere", r"<\|START_ACTION\|>"),
    ("internlm", r"<\|action_start\|>"),
    ("functools", r"functools\s*\["),
    ("react", r"Action\s*:\s*[\w.-]+\s*\n\s*Action Input\s*:"),
    ("json fence", rf"```\w*\s*\[?\s*(?:{_CALL_OBJECT})"),
    ("json", rf"\[?\s*(?:{_CALL_OBJECT})"),
)
_STARTS = tuple(
    (dialect, re.compile(rf"^[ \t]*(?:{start})", re.MULTILINE)) for dialect, start in _DIALECTS
)
_ENDS_AS_CODE = re.compile(r"[\]})>`|]\s*\Z")


def text_dialect(text: str, names: Sequence[str]) -> str | None:
    """The dialect in which *text* makes a call, or None where it makes none.

    A call opens the text, or begins a line with nothing said after it: a text that only shows how
    a call is written goes on in words.
    """
    # Runs of blanks are no part of any dialect, and would make the search slow.
    text = "\n".join(" ".join(line.split()) for line in text.splitlines() if line.strip())
    for dialect, start in (*_STARTS, *_with_names(names)):
        match = start.search(text)
        if match is None:
            continue
        opens = not text[: match.start()].strip()
        if opens or _ENDS_AS_CODE.search(text):
            return dialect
    return None


def _with_names(names: Sequence[str]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    if not names:
        return ()
    known = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    call = rf"(?:functions\.|tools\.|default_api\.)?(?:{known})\s*"
    starts = (
        ("pythonic", rf"(?:```\w*\s*)?\[?\s*(?:print\()?{call}\("),
        ("pythonic", rf"`{call}\([^`\n]*\)`[ \t]*$"),
        ("name and json", rf"(?:>>>\s*)?{call}\{{"),
        ("name as key", rf"\[?\s*\{{\s*{_Q}(?:{known}){_Q}\s*:\s*\{{"),
        ("yaml or xml", rf"<(?:{known})>|<tool>\s*(?:{known})\s*</tool>"),
    )
    return tuple(
        (dialect, re.compile(rf"^[ \t]*(?:{start})", re.MULTILINE)) for dialect, start in starts
    )


_ANNOUNCED = re.compile(
    r"\b(?:i will|i'll|i’ll|i am going to|i'm going to|let me(?! know)|let's|i need to|"
    r"i should|i can now|first,? i)\b"
    r"|(?:我|让我|我来|我先|我将|我会|我现在|我这就|马上|正在|稍等|请稍候)[^。！？!?]{0,12}"
    r"(?:查|看|取消|提交|申请|处理|确认|调用|修改|核实|检索|办理)",
    re.IGNORECASE,
)
_SENTENCES = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")


def is_narrated(text: str) -> bool:
    """Whether a text ends by announcing what the model is about to do."""
    sentences = [part for part in _SENTENCES.split(text.strip()[-400:]) if part.strip()]
    return bool(sentences) and _ANNOUNCED.search(sentences[-1]) is not None
