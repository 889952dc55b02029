"""Model profiles: what a table may say, what of it is public, what its hash binds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fc_eval.agent.profile import EndpointClass, ModelProfile, parse_profile, secret_query_values
from fc_eval.errors import ConfigError


def _parse(**table: Any) -> ModelProfile:
    return parse_profile("m", {"base_url": "https://h.example/v1", **table}, path="pyproject.toml")


@pytest.mark.parametrize(
    ("base_url", "expected"),
    [
        pytest.param("embedded://rules-v1", EndpointClass.EMBEDDED, id="embedded"),
        pytest.param("http://localhost:8/v1", EndpointClass.LOOPBACK, id="localhost"),
        pytest.param("http://127.8.0.1/v1", EndpointClass.LOOPBACK, id="loopback"),
        pytest.param("http://[::1]:8/v1", EndpointClass.LOOPBACK, id="loopback-of-ipv6"),
        pytest.param("https://localhost.example/v1", EndpointClass.REMOTE, id="only-alike"),
        pytest.param("http://10.0.0.1/v1", EndpointClass.REMOTE, id="another-machine"),
    ],
)
def test_where_a_model_runs(base_url: str, expected: EndpointClass) -> None:
    assert _parse(base_url=base_url).endpoint_class is expected


def test_a_model_file_is_local() -> None:
    profile = parse_profile("m", {"gguf": "model.gguf"}, path="pyproject.toml")

    assert (profile.slug, profile.endpoint_class) == ("m", EndpointClass.LOCAL)


@pytest.mark.parametrize(
    ("table", "text"),
    [
        pytest.param({"temprature": 0}, "unknown key 'temprature'", id="an-unknown-key"),
        pytest.param({"timeout_s": "long"}, "Expected `float`", id="a-wrong-type"),
        pytest.param({"timeout_s": 0}, "timeout_s is 0", id="no-time"),
        pytest.param({"max_tokens": -1}, "max_tokens is -1", id="no-tokens"),
        pytest.param({"retries": -1}, "retries is -1", id="fewer-than-no-repeats"),
        pytest.param({"base_url": "h.example/v1"}, "no URL of an endpoint", id="no-scheme"),
        pytest.param({"base_url": "ftp://h/v1"}, "no URL of an endpoint", id="another-scheme"),
        pytest.param({"base_url": "http://[x/v1"}, "no URL of an endpoint", id="no-url"),
        pytest.param({"schema_profile": "x"}, "no schema_profile 'x'", id="an-unknown-form"),
        pytest.param({"base_url": None}, "neither base_url nor gguf", id="no-place"),
    ],
)
def test_tables_that_are_refused(table: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        _parse(**table)

    assert text in str(caught.value)
    assert "[tool.fc_eval.models.m]" in str(caught.value)
    assert caught.value.path == "pyproject.toml"


def test_no_secret_is_public() -> None:
    profile = _parse(
        base_url="https://user:pass@h.example/v1?v=2&api_key=k-1",
        extra_headers={"X-Token": "t-1"},
        api_key_env="SHOP_KEY",
    )

    public = profile.public()

    assert public["base_url"] == "https://h.example/v1?v=2&api_key=***"
    assert public["extra_headers"] == ["X-Token"]
    assert not {"k-1", "t-1", "pass"} & set(str(public).split("'"))


def test_the_secrets_of_a_url() -> None:
    assert secret_query_values("https://h/v1?v=2&sig=a%2Fb&Key=&access_token=c") == ["a%2Fb", "c"]


@pytest.mark.parametrize(
    ("changes", "same"),
    [
        pytest.param({"name": "other"}, True, id="not-the-name"),
        pytest.param({"api_key_env": "X"}, True, id="not-the-key"),
        pytest.param({"base_url": "http://127.0.0.1:9/v1"}, True, id="not-a-loopback-port"),
        pytest.param({"temperature": 1.0}, False, id="the-temperature"),
        pytest.param({"schema_profile": "plain"}, False, id="the-form-of-schemas"),
        pytest.param({"prompt_format": "json_schema"}, False, id="the-prompt"),
        pytest.param({"extra_body": {"a": 1}}, False, id="the-profiles-own-fields"),
    ],
)
def test_what_the_hash_binds(changes: dict[str, Any], same: bool) -> None:
    one = ModelProfile(name="m", slug="m", base_url="http://127.0.0.1:8/v1")
    other = replace(one, **changes)

    assert (one.digest == other.digest) == same
