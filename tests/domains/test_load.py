"""Files and values to a domain: paths, texts, functions, identifiers, and all faults at once."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fc_eval.domains.load import load_domain, relative_to
from fc_eval.domains.protocol import Domain, ToolKind
from fc_eval.errors import DomainError, FaultsError, ToolError
from tests.domains.support import FIXTURES, case, retail

TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "kind": "read",
        "function": {
            "name": "find",
            "parameters": {"type": "object", "properties": {"order_id": {"type": "string"}}},
        },
    }
]


def build(**changes: Any) -> Domain:
    """A small domain with *changes*."""
    arguments: dict[str, Any] = {
        "tools": TOOLS,
        "sandbox": {"find": lambda order_id="W1": order_id},
    }
    return Domain.build(**{**arguments, **changes})


def faults_of(make: Callable[[], object]) -> list[DomainError]:
    """The faults that *make* raises, all of them of a domain."""
    with pytest.raises(FaultsError) as caught:
        make()
    assert all(isinstance(fault, DomainError) for fault in caught.value.faults)
    return list(caught.value.faults)  # type: ignore[arg-type]  # just asserted


def test_a_table_of_functions_is_a_sandbox() -> None:
    sandbox = build().make_sandbox(case())

    assert sandbox.call("find", {"order_id": "W7"}) == "W7"
    with pytest.raises(ToolError, match="UNKNOWN_TOOL"):
        sandbox.call("lose", {})


def test_a_factory_is_asked_for_every_case() -> None:
    made: list[str] = []

    class Recording:
        def __init__(self, name: str) -> None:
            made.append(name)

        def call(self, name: str, arguments: object) -> None: ...

    domain = build(sandbox=lambda case: Recording(case.id))
    first, second = domain.make_sandbox(case("one")), domain.make_sandbox(case("two"))

    assert first is not second
    assert made == ["one", "two"]


def test_relative_paths_start_at_the_base_folder(tmp_path: Path) -> None:
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS), encoding="utf-8")
    (tmp_path / "prompt.md").write_text("Be kind.\n", encoding="utf-8")

    with relative_to(tmp_path):
        domain = build(tools="tools.json", system_prompt="prompt.md")

    assert domain.system_prompt == "Be kind.\n"
    assert domain.toolset.names(ToolKind.READ) == ("find",)
    with pytest.raises(FaultsError):
        build(tools="tools.json")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param("Be kind.", id="one-line"),
        pytest.param("Be kind.\nRead notes.md", id="lines-that-end-like-a-path"),
        pytest.param("x" * 10_000, id="longer-than-any-path"),
        pytest.param("a\0b", id="no-path-at-all"),
    ],
)
def test_a_prompt_that_is_no_path_is_the_text(text: str) -> None:
    assert build(system_prompt=text).system_prompt == text


@pytest.mark.parametrize("prompt", ["prompt.md", "prompts/agent.txt", Path("agent")], ids=str)
def test_a_prompt_that_looks_like_a_path_must_exist(prompt: str | Path) -> None:
    (fault,) = faults_of(lambda: build(system_prompt=prompt))

    assert fault.path == str(prompt)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        pytest.param({"sandbox": {}}, "'find' has no function", id="a-tool-without-function"),
        pytest.param({"sandbox": {"find": 1}}, "has 1 for tool", id="a-function-that-is-none"),
        pytest.param({"sandbox": {"find": print}}, "takes no 'order_id'", id="a-function-amiss"),
        pytest.param({"sandbox": None}, "sandbox is None", id="no-sandbox"),
        pytest.param({"system_prompt": None}, "system_prompt is None", id="no-prompt"),
        pytest.param({"link": ""}, "link is ''", id="no-link"),
        pytest.param({"link": None}, "link is None", id="a-link-that-is-no-name"),
        pytest.param({"known_ids": {"a": []}}, "known_ids['a'] is empty", id="no-identifiers"),
        pytest.param({"known_ids": {"a": "W1"}}, "is 'W1'", id="a-string-is-no-set-of-letters"),
        pytest.param({"known_ids": {"a": [None]}}, "holds None", id="null-is-no-identifier"),
        pytest.param({"known_ids": {"a": [True]}}, "holds True", id="true-is-no-identifier"),
        pytest.param({"known_ids": {"a": [[]]}}, "holds []", id="a-list-is-no-identifier"),
        pytest.param({"known_ids": {"a": [" "]}}, "holds ' '", id="a-blank-is-no-identifier"),
        pytest.param({"tools": []}, "tool list is empty", id="no-tools"),
    ],
)
def test_a_domain_that_can_not_be_used(changes: dict[str, Any], problem: str) -> None:
    (fault,) = faults_of(lambda: build(**changes))

    assert problem in fault.problem
    assert fault.fix


def test_a_function_without_a_tool_is_told_the_nearest_name() -> None:
    def find(order_id: str = "") -> None: ...

    (fault,) = faults_of(lambda: build(sandbox={"find": find, "fnd": find}))

    assert "'fnd'" in fault.problem
    assert fault.fix == "write 'find'"


def test_all_faults_of_a_domain_are_told() -> None:
    found = faults_of(
        lambda: build(tools="no.json", system_prompt="no.md", known_ids={"a": []}, link="")
    )

    assert len(found) == 4


def test_a_fault_in_a_tool_file_names_the_line(tmp_path: Path) -> None:
    second = {"type": "function", "kind": "reed", "function": {"name": "lose"}}
    path = tmp_path / "tools.json"
    path.write_text(json.dumps([*TOOLS, second], indent=1), encoding="utf-8")

    (fault,) = faults_of(lambda: build(tools=path, sandbox=lambda case: None))

    line = path.read_text(encoding="utf-8").splitlines()[(fault.line or 0) - 1]
    assert '"lose"' in line
    assert str(fault).startswith(f"{path}:{fault.line}: tool 'lose'")


def test_a_tool_file_that_is_no_json_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    path.write_text("[\n{,\n]", encoding="utf-8")

    (fault,) = faults_of(lambda: build(tools=path, sandbox=lambda case: None))

    assert (fault.path, fault.line) == (str(path), 2)


def test_the_retail_domain_is_what_its_fixtures_say() -> None:
    domain = retail()

    assert len(domain.toolset) == 13
    assert len(domain.toolset.names(ToolKind.READ)) == 6
    assert domain.toolset.names(ToolKind.CONFIRM) == ("confirm_action", "abort_action")
    assert domain.known_ids["order_id"] == {f"W44{number}" for number in range(1, 9)}
    assert domain.known_ids["item_id"] == domain.known_ids["replacement_item_id"]
    assert domain.system_prompt == (FIXTURES / "system_prompt.md").read_text(encoding="utf-8")


def test_every_string_and_object_of_the_retail_tools_is_closed() -> None:
    def schemas(schema: dict[str, Any]) -> list[dict[str, Any]]:
        inner = schema.get("properties", {}).values()
        return [schema, *(found for value in inner for found in schemas(value))]

    for tool in retail().toolset:
        for schema in schemas(dict(tool.parameters)):
            if schema["type"] == "object":
                assert schema["additionalProperties"] is False
            if schema["type"] == "string":
                assert schema["minLength"] == 1


@pytest.fixture
def fixtures(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FIXTURES, tmp_path / "fixtures"))


def edit(path: Path, change: Callable[[Any], object]) -> None:
    """Change the JSON value of the file *path*."""
    value = json.loads(path.read_text(encoding="utf-8"))
    change(value)
    path.write_text(json.dumps(value), encoding="utf-8")


@pytest.mark.parametrize(
    ("file", "change", "digest"),
    [
        ("users.json", lambda rows: rows[0].update(name="X"), "database_digest"),
        ("orders.json", lambda rows: rows[0].update(total=1), "database_digest"),
        ("products.json", lambda rows: rows[0].update(name="X"), "database_digest"),
        ("return_policy.json", lambda rows: rows["general"].clear(), "policy_digest"),
    ],
    ids=["users", "orders", "products", "policy"],
)
def test_each_fixture_is_bound_by_one_digest(
    fixtures: Path, file: str, change: Callable[[Any], object], digest: str
) -> None:
    before = load_domain(fixtures)
    edit(fixtures / "standard" / file, change)
    after = load_domain(fixtures)

    differing = [
        name
        for name in ("database_digest", "policy_digest")
        if getattr(before, name) != getattr(after, name)
    ]
    assert differing == [digest]


def test_the_layout_of_a_fixture_file_is_not_bound(fixtures: Path) -> None:
    before = load_domain(fixtures)
    edit(fixtures / "standard" / "orders.json", lambda rows: None)

    assert load_domain(fixtures).database_digest == before.database_digest


@pytest.mark.parametrize(
    ("file", "change", "problem"),
    [
        pytest.param(
            "standard/orders.json",
            lambda rows: rows[0].update(status="lost"),
            "'lost'",
            id="a-state-that-no-order-has",
        ),
        pytest.param(
            "standard/orders.json",
            lambda rows: rows[0].update(user_id="U999"),
            "no user 'U999'",
            id="an-order-of-nobody",
        ),
        pytest.param(
            "standard/orders.json",
            lambda rows: rows[0]["items"][0].update(item_id="I9"),
            "no item 'I9'",
            id="an-order-of-nothing",
        ),
        pytest.param(
            "standard/users.json",
            lambda rows: rows.append(rows[0]),
            "'U101' is empty or stands twice",
            id="two-customers-of-one-id",
        ),
        pytest.param(
            "standard/products.json",
            lambda rows: rows[0].pop("items"),
            "items",
            id="a-product-without-items",
        ),
        pytest.param(
            "tools.json",
            lambda tools: tools[0]["function"].update(name="find_user"),
            "'find_user' has no function",
            id="a-tool-that-the-sandbox-does-not-have",
        ),
        pytest.param(
            "tools.json",
            lambda tools: tools[0]["function"]["parameters"]["properties"].update(note={}),
            "takes no 'note'",
            id="a-parameter-that-the-sandbox-does-not-take",
        ),
    ],
)
def test_fixtures_that_do_not_fit_together(
    fixtures: Path, file: str, change: Callable[[Any], object], problem: str
) -> None:
    edit(fixtures / file, change)

    (fault,) = faults_of(lambda: load_domain(fixtures))

    assert problem in fault.problem
    assert fault.path == str(fixtures / file)


def test_every_missing_file_is_told(tmp_path: Path) -> None:
    assert len(faults_of(lambda: load_domain(tmp_path))) == 6
