"""`Domain`, `Toolset`, `Sandbox`: all that the rest of the package knows of a world.

A domain is what the agent works on: a frozen toolset, a system prompt, the identifiers that
exist, and a factory that makes a fresh sandbox for every case. How one is read from files is
`domains.load`'s business.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from enum import StrEnum
from os import PathLike
from typing import Any, Protocol, TypeAlias, runtime_checkable

from fc_eval.records.case import AnyCase
from fc_eval.records.codec import JsonValue, digest, text_digest

DEFAULT_LINK = "action_id"


class ToolKind(StrEnum):
    """What a call of a tool does to the world."""

    READ = "read"
    """Looks, changes nothing; the only kind that may be whitelisted."""
    REQUEST = "request"
    """Asks for a change that a confirm tool resolves."""
    CONFIRM = "confirm"
    """Resolves a request, one way or the other."""
    WRITE = "write"
    """Changes the world at once; the kind of a tool that names none."""


@runtime_checkable
class Sandbox(Protocol):
    """A dry-run executor, fresh for one case.

    `call` answers with a JSON value. It raises `fc_eval.ToolError` for a fault that the model
    shall see; any other exception is the harness's fault.
    """

    def call(self, name: str, arguments: Mapping[str, JsonValue]) -> JsonValue:
        """Run the tool *name*; its arguments satisfy the tool's schema."""
        ...


SandboxFactory: TypeAlias = Callable[[Any], Sandbox]
"""Makes a fresh sandbox for a case, which it is given."""
ToolTable: TypeAlias = Mapping[str, Callable[..., JsonValue]]
PathLikeOrText: TypeAlias = str | PathLike[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool: its `function` object as written in the OpenAI form, and its kind."""

    name: str
    kind: ToolKind
    function: Mapping[str, JsonValue]

    @property
    def parameters(self) -> Mapping[str, JsonValue]:
        """The JSON Schema of the arguments; one without properties where none is written."""
        return self.function.get("parameters") or {"type": "object", "properties": {}}

    @property
    def properties(self) -> Mapping[str, JsonValue]:
        """The schemas of the top-level parameters, by name."""
        return self.parameters.get("properties") or {}


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaFault:
    """One way in which arguments break a tool's schema.

    `param` is the top-level parameter that is at fault, None where the object as a whole is.
    `rule` is the JSON Schema keyword that was broken, such as `required` or `type`.
    """

    param: str | None
    rule: str
    path: str
    message: str


class Toolset:
    """The frozen list of tools of a domain, in its written order.

    Args:
        tools: In the order in which they are shown to the model, with unique names.
    """

    __slots__ = ("_by_name", "_validators", "tools")

    def __init__(self, tools: Iterable[Tool]) -> None:
        self.tools = tuple(tools)
        self._by_name = {tool.name: tool for tool in self.tools}
        self._validators: dict[str, Any] = {}
        if len(self._by_name) != len(self.tools):
            raise ValueError("two tools of one toolset have the same name")

    def __iter__(self) -> Iterator[Tool]:
        return iter(self.tools)

    def __len__(self) -> int:
        return len(self.tools)

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def get(self, name: str | None) -> Tool | None:
        """The tool of this exact name, or None."""
        return None if name is None else self._by_name.get(name)

    def kind(self, name: str | None) -> ToolKind | None:
        """The kind of the tool of this exact name, or None where there is no such tool."""
        tool = self.get(name)
        return None if tool is None else tool.kind

    def names(self, *kinds: ToolKind) -> tuple[str, ...]:
        """The names of all tools, or of those of the given kinds, in order."""
        return tuple(tool.name for tool in self.tools if not kinds or tool.kind in kinds)

    def openai(self) -> list[dict[str, JsonValue]]:
        """The tools as the chat-completions API takes them; `kind` is never among it."""
        return [
            {"type": "function", "function": copy.deepcopy(dict(tool.function))}
            for tool in self.tools
        ]

    def schema_faults(self, name: str, arguments: JsonValue) -> tuple[SchemaFault, ...]:
        """How *arguments* break the schema of the tool *name*, sorted; empty where they fit.

        Raises:
            KeyError: There is no such tool.
        """
        validator = self._validators.get(name)
        if validator is None:
            import jsonschema

            validator = jsonschema.Draft202012Validator(self._by_name[name].parameters)
            self._validators[name] = validator
        faults = [
            fault for error in validator.iter_errors(arguments) for fault in _faults_of(error)
        ]
        return tuple(sorted(faults, key=lambda fault: (fault.path, fault.rule, fault.message)))

    @property
    def digest(self) -> str:
        """SHA-256 over names, kinds, descriptions and schemas, in order."""
        return digest([[tool.kind.value, tool.function] for tool in self.tools])


def _faults_of(error: Any) -> Iterator[SchemaFault]:
    path = [str(part) for part in error.absolute_path]
    where = ".".join(path)
    rule = str(error.validator)
    message = str(error.message)[:300]
    if path:
        yield SchemaFault(param=path[0], rule=rule, path=where, message=message)
        return
    if rule == "required" and isinstance(error.instance, dict):
        # jsonschema reports one error for each missing name, with the name in its text only.
        missing = [name for name in error.validator_value if message.startswith(repr(name))]
        for name in missing or [None]:
            yield SchemaFault(param=name, rule=rule, path=name or "", message=message)
        return
    if rule in ("additionalProperties", "unevaluatedProperties"):
        for name in _extra_names(rule, error) or [None]:
            yield SchemaFault(param=name, rule=rule, path=name or "", message=message)
        return
    if "propertyNames" in error.absolute_schema_path and isinstance(error.instance, str):
        name = error.instance
        yield SchemaFault(param=name, rule="propertyNames", path=name, message=message)
        return
    yield SchemaFault(param=None, rule=rule, path="", message=message)


def _extra_names(rule: str, error: Any) -> list[str | None]:
    known = set(error.schema.get("properties") or {})
    unknown = [name for name in error.instance if name not in known]
    if rule == "unevaluatedProperties":
        # What subschemas allow is no property of this schema; only the text tells.
        return [name for name in unknown if repr(name) in error.message]
    patterns = [re.compile(text) for text in error.schema.get("patternProperties") or {}]
    return [name for name in unknown if not any(p.search(name) for p in patterns)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """What the agent works on.

    `known_ids` holds the identifiers that exist in the fixtures, by parameter name; a parameter
    that it does not name is not checked. `link` names what ties a confirm to its request.
    `database_digest` and `policy_digest` bind a run to the fixtures, None where there are none.
    """

    toolset: Toolset
    sandbox_factory: SandboxFactory
    system_prompt: str = ""
    known_ids: Mapping[str, AbstractSet[JsonValue]] = field(default_factory=dict)
    link: str = DEFAULT_LINK
    database_digest: str | None = None
    policy_digest: str | None = None

    @classmethod
    def build(
        cls,
        *,
        tools: PathLikeOrText | Sequence[Mapping[str, Any]],
        sandbox: SandboxFactory | ToolTable,
        system_prompt: PathLikeOrText = "",
        known_ids: Mapping[str, Iterable[JsonValue]] | None = None,
        link: str = DEFAULT_LINK,
    ) -> Domain:
        """Make a domain, and check all of it.

        Args:
            tools: A JSON file or a list, in the OpenAI form, each with `kind` beside `type`.
            sandbox: `case -> Sandbox`, or a dict of tool name to function; either way every case
                gets a fresh one. A function of the dict takes the arguments as keywords.
            system_prompt: A file, or the text itself.
            known_ids: The identifiers that exist, by parameter name.
            link: The parameter that ties a confirm to its request.

        Relative paths start at pytest's rootdir, outside pytest at the current folder.

        Raises:
            FaultsError: With every fault that was found, each a `DomainError`.
        """
        from fc_eval.domains.load import build_domain

        return build_domain(
            tools=tools,
            sandbox=sandbox,
            system_prompt=system_prompt,
            known_ids=known_ids,
            link=link,
        )

    def make_sandbox(self, case: AnyCase) -> Sandbox:
        """A fresh sandbox for *case*."""
        return self.sandbox_factory(case)

    @property
    def system_prompt_digest(self) -> str:
        """SHA-256 of the system prompt's text."""
        return text_digest(self.system_prompt)

    def unknown_ids(self, name: str, value: JsonValue) -> tuple[str, ...]:
        """Where, in the top-level parameter *name*, an identifier stands that does not exist.

        Every key that `known_ids` names is looked at, at any depth; a list under such a key holds
        identifiers. Returns dotted paths that start with *name*, in the order of the value.
        """
        return tuple(self._unknown(name, name, value))

    def _unknown(self, path: str, key: str, value: JsonValue) -> Iterator[str]:
        if isinstance(value, Mapping):
            for inner, item in value.items():
                yield from self._unknown(f"{path}.{inner}", str(inner), item)
        elif isinstance(value, list):
            for position, item in enumerate(value):
                yield from self._unknown(f"{path}.{position}", key, item)
        elif (
            key in self.known_ids
            and value is not None
            and not any(_same_id(value, known) for known in self.known_ids[key])
        ):
            yield path


def _same_id(value: JsonValue, known: JsonValue) -> bool:
    # As everywhere in judging: 1 equals 1.0, and booleans are no numbers.
    return isinstance(value, bool) is isinstance(known, bool) and bool(value == known)
