"""BFCL's prompt mode as a way to show tools: `prompt_format = "bfcl"`.

The documented functions go into the leaderboard's own system prompt, calls come back as Python
text. Made for one entry at a time, since its functions are shown as documented, dots and all.
"""

from __future__ import annotations

from pathlib import Path

from fc_eval.agent.prompt import JsonProtocol
from fc_eval.agent.protocol import ReadCall, Reading, Reply
from fc_eval.bfcl.entries import BfclEntry
from fc_eval.bfcl.judging import PYTHON_TEXT, python_calls
from fc_eval.bfcl.prompt import system_prompt
from fc_eval.errors import ConfigError

PROMPT_FORMAT = "bfcl"


class PythonProtocol(JsonProtocol):
    """Function documents in the system prompt, Python calls as the answer.

    Args:
        entry: Whose functions are shown.
        data: The `data` folder of the shipped package; the prompt texts lie beside it.
    """

    def __init__(self, entry: BfclEntry, data: Path) -> None:
        super().__init__(())
        self._entry = entry
        self._data = data

    def system_text(self, system_prompt_of_entry: str) -> str:
        """The leaderboard's prompt, and after an empty line the entry's own where it has one.

        Raises:
            ConfigError: The package has no prompt texts.
        """
        prompt = system_prompt(self._entry, self._data)
        return f"{prompt}\n\n{system_prompt_of_entry}" if system_prompt_of_entry else prompt

    def read(self, reply: Reply) -> Reading:
        """The calls that the text is read as; the verdict rests on the text."""
        if reply.calls:
            # Sent no tools and read calls all the same: an endpoint that parses texts itself.
            return Reading(calls=reply.calls, text=reply.text)
        calls = tuple(
            ReadCall(tool=call.tool, arguments=call.arguments) for call in python_calls(reply.text)
        )
        return Reading(calls=calls, text=reply.text, flags=(PYTHON_TEXT,))


def check_prompt_texts(data: Path, entry: BfclEntry) -> None:
    """Raise before anything is sent where the prompt can't be made.

    Raises:
        ConfigError: The package has no prompt texts, or not those that are needed.
    """
    try:
        system_prompt(entry, data)
    except KeyError as error:
        raise ConfigError(
            f"the prompt texts of BFCL have no {error}",
            path=data.parent,
            fix="unpack the whole package bfcl_eval, with its folder constants",
        ) from None
