"""The official checker, unchanged, beside ours.

The wheel's runner imports the client of every vendor. None of them is needed to judge an answer, so
while it is imported, stand-ins take their places; what decodes and judges is the official code. The
one part that is ours is the registry entry of the two models, which only says how names are
written.
"""

from __future__ import annotations

import copy
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from fc_eval.bfcl.data import PACKAGE, RELEASE, cache_folder, find_data
from fc_eval.bfcl.entries import BfclEntry
from fc_eval.errors import ConfigError

_CHECKER = Path("eval_checker", "ast_eval", "ast_checker.py")
_VENDORS = ("openai", "tenacity", "filelock", "overrides", "tqdm", "numpy", "pandas", "dotenv")
_INSIDE = (
    f"{PACKAGE}.constants.model_config",
    f"{PACKAGE}.model_handler.parser.java_parser",
    f"{PACKAGE}.model_handler.parser.js_parser",
)
_TOOLS_MODEL = "tools"
_PROMPT_MODEL = "prompt"

Verdict = tuple[bool, str | None]


class Official:
    """Decodes and judges as the leaderboard does: one answer in, validity and error type out."""

    def __init__(self, modules: Mapping[str, ModuleType]) -> None:
        self.runner: Any = modules["eval_checker.eval_runner"]
        self.handlers: Any = modules["model_handler.utils"]
        self.mappings: Any = modules["constants.type_mappings"]
        self.enums: Any = modules["constants.enums"]
        self.utils: Any = modules["utils"]
        handler_class: Any = modules[
            "model_handler.api_inference.openai_completion"
        ].OpenAICompletionsHandler
        self._tools_handler = handler_class.__new__(handler_class)
        self._tools_handler.is_fc_model = True
        self._prompt_handler = handler_class.__new__(handler_class)
        self._prompt_handler.is_fc_model = False

    def judge_tools(self, entry: BfclEntry, result: object) -> Verdict:
        """Judge what came over a tools API: a list of `{name: arguments text}`, or a text."""
        return self._judge(self._tools_handler, _TOOLS_MODEL, entry, result)

    def judge_prompt(self, entry: BfclEntry, result: str) -> Verdict:
        """Judge the text of a model in prompt mode."""
        return self._judge(self._prompt_handler, _PROMPT_MODEL, entry, result)

    def documents(self, entry: BfclEntry) -> list[dict[str, Any]]:
        """The entry's functions as the leaderboard hands them to a model's handler."""
        line = {"id": entry.id, "function": copy.deepcopy(entry.functions)}
        (shown,) = self.utils.add_language_specific_hint_to_function_doc([line])
        functions: list[dict[str, Any]] = shown["function"]
        return functions

    def _judge(self, handler: object, model: str, entry: BfclEntry, result: object) -> Verdict:
        prompt = {"function": entry.functions}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if entry.ground_truth is None:
                judged = self.runner._evaluate_single_relevance_entry(
                    handler, entry.id, result, prompt, model, entry.subset
                )
            else:
                judged = self.runner._evaluate_single_ast_entry(
                    handler,
                    entry.id,
                    result,
                    entry.ground_truth,
                    prompt,
                    model,
                    entry.subset,
                    self.enums.Language.PYTHON,
                    self.enums.ReturnFormat.PYTHON,
                )
        return judged["valid"], judged.get("error_type")


def find_official() -> Path | None:
    """What to put on the import path: a whole unpacked package's parent, or the fetched wheel."""
    try:
        package = find_data(os.environ).parent
    except ConfigError:
        return None
    if (package / _CHECKER).is_file():
        return package.parent
    wheels = sorted((cache_folder(os.environ) / RELEASE.folder).glob("*.whl"))
    return wheels[0] if wheels else None


def load_official(place: Path, scratch: Path) -> Official:
    """Import the official code and leave no trace of it, or of the stand-ins, in `sys.modules`."""
    before = dict(sys.modules)
    with _environment("BFCL_PROJECT_ROOT", str(scratch)), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sys.path.insert(0, str(place))
        try:
            for name in _VENDORS:
                if find_spec(name) is None:
                    sys.modules[name] = _StandIn(name)
            for name in _INSIDE:
                sys.modules[name] = _StandIn(name)
            registry: Any = sys.modules[_INSIDE[0]]
            registry.MODEL_CONFIG_MAPPING = {
                _TOOLS_MODEL: SimpleNamespace(underscore_to_dot=True),
                _PROMPT_MODEL: SimpleNamespace(underscore_to_dot=False),
            }
            names = (
                "utils",
                "constants.enums",
                "constants.type_mappings",
                "model_handler.utils",
                "model_handler.api_inference.openai_completion",
                "eval_checker.eval_runner",
            )
            modules = {name: import_module(f"{PACKAGE}.{name}") for name in names}
        finally:
            sys.path.remove(str(place))
            for name in set(sys.modules) - set(before):
                if name.partition(".")[0] in (PACKAGE, *_VENDORS):
                    del sys.modules[name]
    return Official(modules)


class _StandIn(ModuleType):
    """A module whose every name is a decorator factory that changes nothing."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)

        def factory(*args: object, **options: object) -> Callable[[Any], Any]:
            return lambda function: function

        return factory


@contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    old = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if old is None:
            del os.environ[name]
        else:
            os.environ[name] = old


def as_result(calls: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Calls of ours, arguments as text, in the shape of the official result files."""
    return [{call["name"]: call["arguments"]} for call in calls]
