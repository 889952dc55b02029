from __future__ import annotations

from pathlib import Path

import pytest

from fc_eval.bfcl.entries import BfclEntry
from fc_eval.bfcl.prompt import build_messages, prompt_constant
from fc_eval.errors import ConfigError
from tests.bfcl.support import function

TEXTS = """
_PLAINTEXT_SYSTEM_PROMPT_TEMPLATE = (
    "{persona}|{task}|" "{tool_call_format}|{multiturn_behavior}|{available_tools}"
)
OUTPUT_FORMAT_MAPPING = {"python": "[f(x=1)]"}
PARAM_TYPE_MAPPING = {"python": ""}
TOGETHER = OUTPUT_FORMAT_MAPPING["python"] + "!"
PROMPT_STYLE_TEMPLATES = {
    "classic": {
        "persona": "P",
        "task": "T",
        "tool_call_no_tag": "As {output_format}.{param_types}",
        "multiturn_behavior": "M",
        "available_tools": "In {format}: {functions}",
    }
}
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "constants").mkdir()
    (tmp_path / "constants" / "default_prompts.py").write_text(TEXTS, encoding="utf-8")
    return tmp_path / "data"


def asked(*roles: str) -> BfclEntry:
    return BfclEntry(
        id="x",
        subset="simple_python",
        question=[[{"role": role, "content": f"from {role}"} for role in roles]],
        functions=[function("a.b", {})],
    )


def test_the_prompt_goes_in_front(data: Path) -> None:
    system, user = build_messages(asked("user"), data)

    assert system["role"] == "system"
    assert system["content"].startswith("P|T|As [f(x=1)].|M|In json: [\n    {\n")
    assert '"name": "a.b"' in system["content"]
    assert "Python 3 syntax" in system["content"]
    assert user == {"role": "user", "content": "from user"}


def test_a_system_message_of_the_entry_follows_in_the_same_message(data: Path) -> None:
    entry = asked("system", "user")

    messages = build_messages(entry, data)

    assert [message["role"] for message in messages] == ["system", "user"]
    assert messages[0]["content"].endswith("]\n\nfrom system")
    assert entry.question[0][0]["content"] == "from system"


@pytest.mark.parametrize("name", ["TOGETHER", "NOTHING"])
def test_only_literal_constants_are_read(data: Path, name: str) -> None:
    with pytest.raises(ConfigError, match=f"no {name}"):
        prompt_constant(data, name)


def test_a_package_without_prompt_texts_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="prompt texts"):
        prompt_constant(tmp_path / "data", "X")
