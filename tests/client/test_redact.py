"""A secret is found in every spelling that it may come back in."""

from __future__ import annotations

import base64
import copy
import json
import pickle
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fc_eval.client.redact import MARK, Redactor, Secret

KEY = 'sk-Canary/42"x+y'


def _escaped(text: str) -> str:
    return "".join(f"\\u{ord(character):04X}" for character in text)


SPELLINGS = {
    "plain": KEY,
    "in-json": json.dumps({"k": KEY}),
    "in-json-in-json": json.dumps({"k": json.dumps({"k": KEY})}),
    "three-levels-deep": json.dumps(json.dumps(json.dumps(KEY))),
    "as-escapes": _escaped(KEY),
    "as-escapes-in-json": json.dumps(_escaped(KEY)),
    "with-percent-signs": quote(KEY, safe=""),
    "as-a-form": quote_plus(KEY),
    "every-letter-with-a-percent-sign": "".join(f"%{ord(c):02x}" for c in KEY),
    "solidus-escaped": KEY.replace("/", "\\/"),
    "base64": base64.b64encode(KEY.encode()).decode(),
    "basic-auth": base64.b64encode(f"user:{KEY}".encode()).decode(),
    "basic-auth-shifted": base64.b64encode(f"me:{KEY}:x".encode()).decode(),
    "basic-auth-shifted-again": base64.b64encode(f"m:{KEY}".encode()).decode(),
    "base64-for-urls": base64.urlsafe_b64encode(f"xy{KEY}".encode()).decode(),
    "at-the-end-of-words": f"Incorrect API key provided: {KEY}.",
}


def _shows(text: str) -> bool:
    """Whether the key can still be read out of *text*."""
    shown = [text]
    for _ in range(3):
        shown.append(shown[-1].encode().decode("unicode_escape"))
    decoded = base64.b64decode(text + "==", altchars=None) if text.isalnum() else b""
    return any(KEY in item or KEY[3:] in item for item in shown) or KEY[3:-3].encode() in decoded


@pytest.mark.parametrize("text", SPELLINGS.values(), ids=SPELLINGS.keys())
def test_a_secret_leaves_a_text(text: str) -> None:
    redacted = Redactor([KEY]).text(text)

    assert MARK in redacted
    assert not _shows(redacted)
    assert Redactor([KEY]).data(text.encode()) == redacted.encode()


PRINTABLE = st.text(st.characters(min_codepoint=33, max_codepoint=126))
SECRETS = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=6, max_size=12)


@given(SECRETS, PRINTABLE, PRINTABLE)
def test_any_secret_leaves_json_of_any_depth(secret: str, before: str, after: str) -> None:
    text = json.dumps({"a": json.dumps([before + secret + after])})

    assert secret not in Redactor([secret]).text(text)
    assert MARK in Redactor([secret]).text(text)


@given(st.binary())
def test_bytes_without_a_secret_stay_as_they_are(data: bytes) -> None:
    assert Redactor([KEY]).data(data) == data


def test_bytes_that_are_no_text() -> None:
    data = b"\xff\xfe" + KEY.encode() + b"\x80"

    assert Redactor([KEY]).data(data) == b"\xff\xfe" + MARK.encode() + b"\x80"


def test_values_and_their_keys() -> None:
    value = {KEY: [KEY, 1, None, True, {"a": f"x{KEY}"}]}

    assert Redactor([KEY]).value(value) == {MARK: [MARK, 1, None, True, {"a": f"x{MARK}"}]}


def test_headers_that_carry_secrets_by_their_name_go() -> None:
    headers = {
        "Authorization": "Bearer x",
        "Set-Cookie": "a=b",
        "X-Api-Key": "x",
        "X-Echo": f"got {KEY}",
        "Content-Type": "application/json",
    }

    assert Redactor([KEY]).headers(headers) == {
        "x-echo": f"got {MARK}",
        "content-type": "application/json",
    }


def test_short_values_are_no_secrets() -> None:
    assert Redactor(["x", "", "EMPTY"]).text("an EMPTY box") == "an EMPTY box"


def test_the_longest_secret_goes_first() -> None:
    assert Redactor(["secret", "secret-and-more"]).text("secret-and-more") == MARK


def test_backslashes_cost_linear_time() -> None:
    # Quadratic, this would take minutes.
    assert Redactor([KEY]).text("\\" * 500_000) == "\\" * 500_000


def test_a_secret_does_not_show_itself() -> None:
    secret = Secret(KEY)

    assert KEY not in f"{secret} {secret!r} {[secret]}"
    assert secret.reveal() == KEY
    assert secret == Secret(KEY)
    assert secret != Secret("other-key")
    with pytest.raises(TypeError):
        pickle.dumps(secret)
    with pytest.raises(TypeError):
        copy.copy(secret)
