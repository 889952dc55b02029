"""The messages of prompt mode: tool documents in the system prompt, calls as Python text.

The wording decides scores, so it is the leaderboard's own: read from the shipped package when it is
needed, as text, without importing or evaluating anything. How the answer is read is asked in
`decode`.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from fc_eval.bfcl.data import FETCH_HINT
from fc_eval.bfcl.entries import BfclEntry
from fc_eval.bfcl.tools import with_remark
from fc_eval.errors import ConfigError

_FORMAT = "python"
_STYLE = "classic"
_LAYOUT = "_PLAINTEXT_SYSTEM_PROMPT_TEMPLATE"
_DOCUMENTS = "json"


def build_messages(entry: BfclEntry, data: Path) -> list[dict[str, str]]:
    """The messages of an entry's first turn, with the system prompt in front.

    Where the turn starts with a system message of its own, that one follows the prompt in the same
    message, after an empty line.

    Args:
        entry: What is asked, and with which functions.
        data: The `data` folder of the shipped package; the prompt texts lie beside it.

    Raises:
        ConfigError: The package has no prompt texts.
    """
    messages = [dict(message) for message in entry.question[0]]
    prompt = system_prompt(entry, data)
    if messages and messages[0]["role"] == "system":
        messages[0]["content"] = f"{prompt}\n\n{messages[0]['content']}"
        return messages
    return [{"role": "system", "content": prompt}, *messages]


def system_prompt(entry: BfclEntry, data: Path) -> str:
    """The leaderboard's default system prompt: plain text, Python calls, documents as JSON.

    Raises:
        ConfigError: The package has no prompt texts.
    """
    texts = prompt_constant(data, "PROMPT_STYLE_TEMPLATES")[_STYLE]
    call_format = texts["tool_call_no_tag"].format(
        output_format=prompt_constant(data, "OUTPUT_FORMAT_MAPPING")[_FORMAT],
        param_types=prompt_constant(data, "PARAM_TYPE_MAPPING")[_FORMAT],
    )
    tools = texts["available_tools"].format(
        format=_DOCUMENTS, functions=json.dumps(with_remark(entry.functions), indent=4)
    )
    layout: str = prompt_constant(data, _LAYOUT)
    return layout.format(
        persona=texts["persona"],
        task=texts["task"],
        tool_call_format=call_format,
        multiturn_behavior=texts["multiturn_behavior"],
        available_tools=tools,
    )


def prompt_constant(data: Path, name: str) -> Any:
    """A literal constant of the shipped prompt texts.

    Raises:
        ConfigError: The package has no such file, or no such constant in it.
    """
    path = data.parent / "constants" / "default_prompts.py"
    constants = _constants(path)
    if name not in constants:
        raise ConfigError(f"the prompt texts have no {name}", path=path, fix=FETCH_HINT)
    return constants[name]


@cache
def _constants(path: Path) -> Mapping[str, Any]:
    try:
        module = ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError) as error:
        raise ConfigError(
            f"can't read the prompt texts of BFCL: {error}", path=path, fix=FETCH_HINT
        ) from None
    constants: dict[str, Any] = {}
    for node in module.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                try:
                    constants[name] = ast.literal_eval(value)
                except ValueError:
                    continue  # put together from others, which are read by their own names
    return constants
