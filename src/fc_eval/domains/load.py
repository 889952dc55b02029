"""Files and values to a `Domain`, checked whole: tools, prompt, sandbox, identifiers.

`build_domain` stands behind `Domain.build`; `load_domain` reads the retail domain of a fixtures
folder. Both name every fault that they find, not only the first. What a domain is good for is told
in `domains.protocol`, what the retail tools answer in `domains.retail`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from os import PathLike
from pathlib import Path
from typing import Any, Final, TypeVar

from fc_eval.domains.protocol import (
    DEFAULT_LINK,
    Domain,
    PathLikeOrText,
    SandboxFactory,
    Tool,
    Toolset,
    ToolTable,
)
from fc_eval.domains.retail import (
    OrderRow,
    PolicyTable,
    ProductRow,
    RetailData,
    RetailSandbox,
    UserRow,
)
from fc_eval.domains.tools import ToolListFault, parse_tools, signature_faults
from fc_eval.errors import DomainError, FaultsError, FcEvalError, ToolError, nearest
from fc_eval.records.codec import JsonValue, from_plain
from fc_eval.records.strict import StrictJsonError, parse_strict

PROMPT_SUFFIXES: Final = (".md", ".txt")

T = TypeVar("T")

_base: ContextVar[Path | None] = ContextVar("fc_eval_base", default=None)


@contextmanager
def relative_to(folder: str | PathLike[str]) -> Iterator[None]:
    """Let relative paths of a domain start at *folder* while the block runs.

    Outside of any such block they start at the current folder.
    """
    token = _base.set(Path(folder))
    try:
        yield
    finally:
        _base.reset(token)


class TableSandbox:
    """A sandbox whose tools are functions, called with their arguments as keywords.

    Args:
        table: The functions by the names of their tools.
    """

    def __init__(self, table: ToolTable) -> None:
        self._table = table

    def call(self, name: str, arguments: Mapping[str, JsonValue]) -> JsonValue:
        """Run the function of the tool *name*.

        Raises:
            ToolError: `UNKNOWN_TOOL`, or whatever the function raises.
        """
        function = self._table.get(name)
        if function is None:
            raise ToolError("UNKNOWN_TOOL", f"there is no tool {name!r}")
        return function(**arguments)


def load_domain(folder: str | PathLike[str] = "fixtures") -> Domain:
    """The retail domain of a fixtures folder.

    Args:
        folder: Holds `tools.json`, `system_prompt.md`, and in `standard/` the files `users.json`,
            `orders.json`, `products.json` and `return_policy.json`. A relative path starts at
            pytest's rootdir, outside pytest at the current folder.

    Raises:
        FaultsError: With every fault that was found, each a `DomainError`.
    """
    root = _resolve(folder)
    faults: list[FcEvalError] = []
    tools: list[Tool] = []
    with _collecting(faults):
        tools = _read_tools(root / "tools.json", faults)
    with _collecting(faults):
        prompt = _read_text(root / "system_prompt.md")
    with _collecting(faults):
        data = _read_retail(root / "standard")
        faults += _table_faults(tools, RetailSandbox(data, "").tools, root / "tools.json")
    if faults:
        raise FaultsError(faults)
    return Domain(
        toolset=Toolset(tools),
        sandbox_factory=lambda case: RetailSandbox(data, case.id),
        system_prompt=prompt,
        known_ids=data.known_ids,
        database_digest=data.database_digest,
        policy_digest=data.policy_digest,
    )


def build_domain(
    *,
    tools: PathLikeOrText | Sequence[Mapping[str, Any]],
    sandbox: SandboxFactory | ToolTable,
    system_prompt: PathLikeOrText = "",
    known_ids: Mapping[str, Iterable[JsonValue]] | None = None,
    link: str = DEFAULT_LINK,
) -> Domain:
    """Make a domain of paths or values, and check all of it.

    `tools` is a list, or the path of a JSON file. `system_prompt` is a path where it is a
    `PathLike`, or one line that names a file or ends in .md or .txt; else it is the text itself.
    The other arguments are told at `Domain.build`.

    Raises:
        FaultsError: With every fault that was found, each a `DomainError`.
    """
    faults: list[FcEvalError] = []
    found: list[Tool] = []
    prompt = ""
    file = _resolve(tools) if isinstance(tools, str | PathLike) else None
    with _collecting(faults):
        found = _read_tools(tools if file is None else file, faults)
    with _collecting(faults):
        prompt = _read_prompt(system_prompt)
    if isinstance(sandbox, Mapping):
        # Without all tools nobody knows which functions are one too many.
        faults += [] if faults else _idle_functions(found, sandbox)
        faults += _table_faults(found, sandbox, file)
    elif not callable(sandbox):
        faults.append(
            DomainError(
                f"sandbox is {sandbox!r}",
                fix="write a function case -> Sandbox, or a dict of tool name to function",
            )
        )
    ids = _read_known_ids(known_ids or {}, faults)
    if not isinstance(link, str) or not link.strip():
        faults.append(
            DomainError(f"link is {link!r}", fix=f"name a parameter, such as {DEFAULT_LINK!r}")
        )
    if faults:
        raise FaultsError(faults)
    return Domain(
        toolset=Toolset(found),
        sandbox_factory=_factory(sandbox),
        system_prompt=prompt,
        known_ids=ids,
        link=link,
    )


def _factory(sandbox: SandboxFactory | ToolTable) -> SandboxFactory:
    if not isinstance(sandbox, Mapping):
        return sandbox
    table = dict(sandbox)
    return lambda case: TableSandbox(table)


@contextmanager
def _collecting(faults: list[FcEvalError]) -> Iterator[None]:
    """Add the faults that the block raises to *faults*, and go on after it."""
    try:
        yield
    except FaultsError as error:
        faults += error.faults
    except DomainError as error:
        faults.append(error)


def _resolve(path: str | PathLike[str]) -> Path:
    return (_base.get() or Path()) / path


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise DomainError("this is no UTF-8", path=path, fix="save it as UTF-8") from None
    except OSError as error:
        problem = f"can't be read: {error.strerror or error}"
        raise DomainError(
            problem, path=path, fix="put the file there, or correct the path"
        ) from None


def _read_json(path: Path) -> JsonValue:
    try:
        return parse_strict(_read_text(path))
    except StrictJsonError as error:
        raise DomainError(
            f"this is no JSON: {error.problem}", path=path, line=error.line, fix="correct it there"
        ) from None


def _read_tools(tools: Path | JsonValue, faults: list[FcEvalError]) -> list[Tool]:
    path = tools if isinstance(tools, Path) else None
    found, wrong = parse_tools(_read_json(path) if path else tools)
    faults += [_located(fault, path) for fault in wrong]
    return found


def _located(fault: ToolListFault, path: Path | None) -> DomainError:
    line = None
    if path is not None and fault.tool is not None:
        # Names are unique but for the fault of two equal ones; there the last one is meant.
        text = _read_text(path)
        named = re.compile(rf'"name"\s*:\s*"{re.escape(fault.tool)}"')
        starts = [match.start() for match in named.finditer(text)]
        line = text.count("\n", 0, starts[-1]) + 1 if starts else None
    return DomainError(fault.problem, fix=fault.fix, path=path, line=line)


def _read_prompt(prompt: PathLikeOrText) -> str:
    if isinstance(prompt, PathLike):
        return _read_text(_resolve(prompt))
    if not isinstance(prompt, str):
        raise DomainError(f"system_prompt is {prompt!r}", fix="write the text, or the file's path")
    if not prompt or "\n" in prompt:
        return prompt
    path = _resolve(prompt)
    return _read_text(path) if prompt.endswith(PROMPT_SUFFIXES) or _is_file(path) else prompt


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a sentence may be longer than a name can be, or hold a NUL
        return False


def _table_faults(
    tools: Sequence[Tool], table: ToolTable, path: Path | None
) -> Iterator[DomainError]:
    """Where a tool of the file *path* has no function in *table*, or one that can't be called."""
    for tool in tools:
        for fault in _function_faults(tool, table):
            yield _located(fault, path)


def _idle_functions(tools: Sequence[Tool], table: ToolTable) -> Iterator[DomainError]:
    names = [tool.name for tool in tools]
    for name in table:
        if name not in names:
            fix = nearest(str(name), names, otherwise="add the tool, or drop the function")
            yield DomainError(
                f"the sandbox has a function {name!r}, but no tool is so named", fix=fix
            )


def _function_faults(tool: Tool, table: ToolTable) -> Iterator[ToolListFault]:
    function = table.get(tool.name)
    if function is None:
        problem = f"tool {tool.name!r} has no function in the sandbox"
        yield ToolListFault(problem=problem, fix="add one, or drop the tool", tool=tool.name)
    elif not callable(function):
        problem = f"the sandbox has {function!r} for tool {tool.name!r}"
        yield ToolListFault(problem=problem, fix="write a function", tool=tool.name)
    else:
        yield from signature_faults(tool, function)


def _read_known_ids(
    known_ids: Mapping[str, Iterable[JsonValue]], faults: list[FcEvalError]
) -> dict[str, frozenset[JsonValue]]:
    found: dict[str, frozenset[JsonValue]] = {}
    for name, values in known_ids.items():
        where = f"known_ids[{name!r}]"
        if isinstance(values, str) or not isinstance(values, Iterable):
            faults.append(DomainError(f"{where} is {values!r}", fix='write a set, such as {"W1"}'))
            continue
        listed = list(values)
        wrong = [value for value in listed if not _is_identifier(value)]
        if wrong:
            faults.append(DomainError(f"{where} holds {wrong[0]!r}", fix="use strings or integers"))
        elif not listed:
            fix = "name the identifiers that exist, or drop the entry"
            faults.append(DomainError(f"{where} is empty", fix=fix))
        else:
            found[name] = frozenset(listed)
    return found


def _is_identifier(value: JsonValue) -> bool:
    if isinstance(value, str):
        return bool(value.strip())
    return isinstance(value, int) and not isinstance(value, bool)


def _read_retail(folder: Path) -> RetailData:
    faults: list[FcEvalError] = []
    users = _table(folder / "users.json", list[UserRow], faults)
    orders = _table(folder / "orders.json", list[OrderRow], faults)
    products = _table(folder / "products.json", list[ProductRow], faults)
    policy = _table(folder / "return_policy.json", PolicyTable, faults)
    if users is None or orders is None or products is None or policy is None:
        raise FaultsError(faults)
    data = RetailData.from_tables(users=users, orders=orders, products=products, policy=policy)
    faults += _row_faults(folder / "users.json", "user_id", users)
    faults += _row_faults(folder / "orders.json", "order_id", orders)
    faults += _row_faults(folder / "products.json", "product_id", products)
    items = [item for row in products for item in row["items"]]
    faults += _row_faults(folder / "products.json", "item_id", items)
    faults += _reference_faults(folder / "orders.json", data)
    if faults:
        raise FaultsError(faults)
    return data


def _table(path: Path, shape: type[T], faults: list[FcEvalError]) -> T | None:
    with _collecting(faults):
        value = _read_json(path)
        try:
            from_plain(shape, value)
        except ValueError as error:
            raise DomainError(str(error), path=path, fix="correct the field") from None
        # The value itself, not what was read of it: rows may carry more than the shape names.
        table: T = value
        return table
    return None


def _row_faults(path: Path, key: str, rows: Sequence[Mapping[str, Any]]) -> Iterator[DomainError]:
    ids = [row[key] for row in rows]
    if not ids:
        yield DomainError(f"there is no {key}", path=path, fix="write at least one row")
    for name in sorted({name for name in ids if ids.count(name) > 1 or not name.strip()}):
        yield DomainError(
            f"{key} {name!r} is empty or stands twice", path=path, fix="give each row its own id"
        )


def _reference_faults(path: Path, data: RetailData) -> Iterator[DomainError]:
    for order in data.orders.values():
        if order["user_id"] not in data.users:
            problem = f"order {order['order_id']}: there is no user {order['user_id']!r}"
            yield DomainError(problem, path=path, fix="name a user of users.json")
        for item in order["items"]:
            if item["item_id"] not in data.items:
                problem = f"order {order['order_id']}: there is no item {item['item_id']!r}"
                yield DomainError(problem, path=path, fix="name an item of products.json")
