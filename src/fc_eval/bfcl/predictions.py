"""Answers that were made elsewhere: from a file to what `score` takes.

Two forms are read: lines `{"id", "calls"}` of this project, and the result files of the official
harness. Whether an answer is right is asked in `score`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fc_eval.agent.profile import ToolMode
from fc_eval.bfcl.entries import SUBSETS
from fc_eval.errors import ConfigError

_RESULT_FILE = re.compile(r"BFCL_v\d+_(?P<subset>\w+)_result\.json")
_FORMS = (
    'write {"id": ..., "calls": [{"name": ..., "arguments": {...}}]}, or {"id": ..., "text": ...}'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a model answered to one entry, in the form that `score` takes.

    `calls` is None in prompt mode, and empty where a model over a tools API made none; `text` is
    the answer in prompt mode, else the message beside or instead of the calls.
    """

    calls: tuple[Mapping[str, Any], ...] | None
    text: str | None = None


def read_predictions(path: Path, *, mode: ToolMode | None = None) -> dict[str, Answer]:
    """The answers of a file, or of the result files of one model's folder, by entry id.

    A line has `id`, and either `calls` (with an optional `text`), or `text` alone for prompt mode,
    or `result` as the official harness writes it.

    Args:
        path: A JSONL file, or a folder that is searched for `BFCL_v4_<subset>_result.json`; files
            of subsets that are not scored here are left out.
        mode: How official results were made. Where it is None, one list among the results says
            that it was a tools API: then every text is a message without calls.

    Raises:
        ConfigError: Nothing is there, a line is of neither form, or an id occurs twice.
    """
    lines = [line for file in _files(path) for line in _read_lines(file)]
    if mode is None:
        tools = any(isinstance(line.fields.get("result"), list) for line in lines)
        mode = ToolMode.NATIVE if tools else ToolMode.PROMPT
    answers: dict[str, Answer] = {}
    for line in lines:
        name = line.fields.get("id")
        if not isinstance(name, str):
            raise line.error("the line has no id")
        if name in answers:
            raise line.error(f"{name!r} occurs twice", fix="name one file, or one model's folder")
        answers[name] = _read_answer(line, mode)
    return answers


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    path: Path
    number: int
    fields: Mapping[str, Any]

    def error(self, problem: str, *, fix: str = _FORMS) -> ConfigError:
        return ConfigError(problem, path=self.path, line=self.number, fix=fix)


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = []
    for file in sorted(path.rglob("*_result.json")):
        match = _RESULT_FILE.fullmatch(file.name)
        if match and match["subset"] in SUBSETS:
            found.append(file)
    if not found:
        raise ConfigError(
            "the folder has no result files of single-turn subsets",
            path=path,
            fix="name a JSONL file, or the official harness's result folder of one model",
        )
    return found


def _read_lines(path: Path) -> Iterator[_Line]:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(
            f"can't read the predictions: {error.strerror}", path=path, fix="name another file"
        ) from None
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            fields = json.loads(line)
        except ValueError as error:
            problem = f"the line is no JSON: {error}"
            raise ConfigError(problem, path=path, line=number, fix=_FORMS) from None
        if not isinstance(fields, dict):
            raise ConfigError("the line is no object", path=path, line=number, fix=_FORMS)
        yield _Line(path=path, number=number, fields=fields)


def _read_answer(line: _Line, mode: ToolMode) -> Answer:
    if "result" in line.fields:
        return _read_result(line.fields["result"], mode)
    calls, text = line.fields.get("calls"), line.fields.get("text")
    if not (text is None or isinstance(text, str)) or (calls is None and text is None):
        raise line.error("the line has neither calls nor a text")
    if calls is None:
        return Answer(calls=None, text=text)
    if not isinstance(calls, list) or not all(_is_call(call) for call in calls):
        raise line.error("the calls are no list of objects with a name and arguments")
    return Answer(calls=tuple(calls), text=text)


def _is_call(call: object) -> bool:
    return isinstance(call, dict) and call.keys() >= {"name", "arguments"}


def _read_result(result: object, mode: ToolMode) -> Answer:
    if mode is ToolMode.PROMPT:
        return Answer(calls=None, text=result if isinstance(result, str) else None)
    if isinstance(result, list):
        return Answer(calls=tuple(_read_calls(result)))
    # Without calls the harness stores the message. What is no text at all can't be decoded either.
    return Answer(calls=(), text=result if isinstance(result, str) else repr(result))


def _read_calls(result: Iterable[object]) -> Iterator[Mapping[str, Any]]:
    for item in result:
        if isinstance(item, dict) and item:
            name, arguments = next(iter(item.items()))
            yield {"name": name, "arguments": arguments}
        else:
            # The official decoder stops here, as it does at arguments that are no JSON.
            yield {"name": None, "arguments": ""}
