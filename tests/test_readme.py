"""The README's first example, run as it is printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"
BLOCK = re.compile(r"^```(\w+) ?([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks() -> list[tuple[str, str, str]]:
    """Language, title and text of every fenced block."""
    return BLOCK.findall(README.read_text(encoding="utf-8"))


def test_the_first_example_prints_what_the_readme_shows(pytester: pytest.Pytester) -> None:
    for language, title, text in blocks():
        if language in ("python", "json") and title:
            path = pytester.path / title
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
    (command, shown) = next((t, text) for lang, t, text in blocks() if lang == "text" and t)

    result = pytester.runpytest_subprocess(*command.split()[1:])

    assert command.startswith("pytest ")
    assert shown in result.stdout.str() + "\n"


def test_the_two_commands_set_everything_up() -> None:
    commands = [text.strip() for language, _, text in blocks() if language == "sh"]

    assert "&& .venv/bin/pytest --fc-eval" in commands[0]
    assert commands[1].endswith("&& .venv/bin/pytest")
    script = (README.parent / ".ci" / "run").read_text(encoding="utf-8")
    assert '"$venv/bin/pytest"' in script
