"""Where keys are found, and which client a profile gets."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from fc_eval.agent.profile import ModelProfile
from fc_eval.agent.protocol import EndpointError
from fc_eval.client import find_key, open_client, secrets_of
from fc_eval.errors import ConfigError
from tests.client.odd_server import FINAL, Script, serving
from tests.client.support import odd_profile


def _profile(**changes: Any) -> ModelProfile:
    settings = {"base_url": "https://h.example/v1", "api_key_env": "SHOP_KEY", **changes}
    return ModelProfile(name="shop", slug="m", **settings)


def test_a_key_is_found_and_stripped() -> None:
    key = find_key(_profile(), {"SHOP_KEY": " k-123456\n"})

    assert key is not None
    assert key.reveal() == "k-123456"


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"api_key_env": None}, id="no-variable-is-named"),
        pytest.param({"base_url": "embedded://rules-v1"}, id="embedded"),
        pytest.param({"base_url": None, "gguf": "model.gguf"}, id="a-local-file"),
    ],
)
def test_no_key_is_needed(changes: dict[str, Any]) -> None:
    assert find_key(_profile(**changes), {}) is None


@pytest.mark.parametrize(
    "environ",
    [
        pytest.param({}, id="not-set"),
        pytest.param({"SHOP_KEY": " "}, id="blank"),
        pytest.param({"SHOP_KEY": "k-\u2026"}, id="no-ascii"),
        pytest.param({"SHOP_KEY": "k-1\nk-2"}, id="two-lines"),
    ],
)
def test_a_key_that_cannot_be_had_names_its_variable(environ: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="SHOP_KEY") as caught:
        find_key(_profile(), environ)

    assert ".env" in caught.value.fix
    assert "k-" not in str(caught.value)


def test_all_secrets_of_all_profiles() -> None:
    profiles = [
        _profile(
            base_url="https://user:p%40ss@h.example/v1?api-version=2024-05-01&sig=s-123",
            extra_headers={"X-Team-Token": "Bearer t-123", "Anthropic-Version": "2023-06-01"},
        ),
        _profile(api_key_env="OTHER_KEY"),
    ]

    secrets = secrets_of({"SHOP_KEY": "k-1", "OTHER_KEY": "k-2"}, profiles)

    known = {"k-1", "k-2", "user:p@ss", "p@ss", "user:p%40ss", "s-123", "Bearer t-123", "t-123"}
    assert known <= set(secrets)
    assert not {"2024-05-01", "2023-06-01"} & set(secrets)


def _ask(profile: ModelProfile, environ: dict[str, str] | None = None) -> str:
    async def main() -> str:
        async with open_client(profile, environ or {}) as client:
            reply = await client.complete([{"role": "user", "content": "hello"}], fields={})
            return reply.text

    return asyncio.run(main())


def test_a_client_over_http() -> None:
    script = Script(steps=[FINAL])

    async def main() -> str:
        async with serving({"odd/one": script}) as server:
            profile = odd_profile("odd/one", server.base_url, api_key_env="SHOP_KEY")
            async with open_client(profile, {"SHOP_KEY": "k-123456"}) as client:
                reply = await client.complete([{"role": "user", "content": "hello"}], fields={})
                return reply.text

    assert asyncio.run(main()) == "Done."
    assert script.requests[0].headers["authorization"] == "Bearer k-123456"


def test_a_proxy_of_the_environment_is_not_for_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")

    test_a_client_over_http()


def test_an_embedded_client() -> None:
    assert _ask(_profile(base_url="embedded://rules-v1"))


def test_an_embedded_agent_that_does_not_exist() -> None:
    with pytest.raises(ConfigError, match="rules-v9"):
        _ask(_profile(base_url="embedded://rules-v9"))


def test_a_missing_key_is_found_before_anything_is_sent() -> None:
    with pytest.raises(ConfigError, match="SHOP_KEY"):
        _ask(_profile())


def test_the_wait_for_a_server_that_never_comes_ends() -> None:
    profile = odd_profile(
        "m", "http://127.0.0.1:9/v1", ready_timeout_s=0.1, retries=0, connect_timeout_s=0.5
    )

    with pytest.raises(EndpointError, match="connection"):
        _ask(profile)


def test_no_key_in_the_logs(caplog: pytest.LogCaptureFixture) -> None:
    script = Script(steps=[FINAL])

    async def main() -> None:
        async with serving({"odd/one": script}) as server:
            profile = odd_profile("odd/one", f"{server.base_url}?api_key=k-canary-1")
            async with open_client(profile, {}) as client:
                await client.complete([{"role": "user", "content": "hello"}], fields={})

    with caplog.at_level("DEBUG"):
        asyncio.run(main())

    assert script.requests[0].path.endswith("?api_key=k-canary-1")
    assert "HTTP Request" in caplog.text
    assert "k-canary-1" not in caplog.text
