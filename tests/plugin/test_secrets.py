"""Keys in every place where one can be given, at an endpoint that echoes all it gets.

Nothing that a session writes or prints may have one of them, in whatever spelling.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest

from tests.plugin.endpoint import Answer, Asked, calling, completion, endpoint, error, project
from tests.plugin.support import asks_oslo

CANARIES = {
    "environment": "sk-canary/env+123456",
    "dotenv": "sk-canary-dot-987654",
    "header": "canary-header-445566",
    "bearer": "canary-bearer-778899",
    "user": "canaryuser77",
    "password": "canarypass:w/rd88",
    "query": "canary+query&11",
}

IN_HEADERS = {
    "api_key_env": "CANARY_KEY",
    "extra_headers": {
        "X-Custom": CANARIES["header"],
        "X-Bearer": f"Bearer {CANARIES['bearer']}",
    },
}
WAYS = ("e400", "e401", "e429", "e302", "page", "arguments", "malformed", "text", "breaks")

QUIET = ("-q", "--tb=native", "-l")
LOUD = ("-vvv", "--showlocals", "--full-trace", "-rA")
LOGGED = ("-o", "log_cli=true", "--log-level=DEBUG", "--log-file=debug.log")


def spellings(secret: str) -> Iterator[str]:
    """What shows *secret* to who looks for it."""
    yield from _written_ways(secret)
    for shift, encoded in enumerate(_base64_ways(secret)):
        # The first characters mix with what stands before, the last with what follows.
        yield encoded.rstrip("=")[-(-shift * 8 // 6) : -1]


def _written_ways(text: str) -> list[str]:
    return [text, quote(text, safe=""), quote_plus(text), text.replace("/", "\\/")]


def _base64_ways(text: str) -> list[str]:
    return [base64.b64encode(b"\0" * shift + text.encode()).decode() for shift in range(3)]


def echo(asked: Asked) -> Answer:
    """All that came, in many spellings, in the place that the instruction names."""
    values = [asked.path, *asked.headers.values()]
    told = json.dumps(asked.headers) + " ".join(
        form for value in values for form in (*_written_ways(value), *_base64_ways(value))
    )
    way = asked.instruction.split()[1]
    if way.startswith("e"):
        status = int(way[1:])
        headers = {"X-Echo": json.dumps(asked.headers), "Set-Cookie": told[:500]}
        if status == 302:
            headers["Location"] = f"http://elsewhere.invalid/{quote(told[:900])}"
        return error(status, f"try again in 0.01s: {told}", **headers)
    if way == "page":
        return 200, {"Content-Type": "text/html"}, f"<title>{told}".encode()
    if asked.step or way == "text":
        return completion({"role": "assistant", "content": told}, id=told, provider=told)
    if way == "malformed":
        return completion(calling(f"get_weather{told[:90]}", "{'city': '" + told))
    if way == "breaks":
        return completion(calling("send_alert", json.dumps({"city": "Oslo", "text": told})))
    return completion(calling(arguments=json.dumps({"city": told})))


def lay_out(pytester: pytest.Pytester, base_url: str, **profile: object) -> None:
    lines = [asks_oslo(f"w-{number}", f"case {way} {number}") for number, way in enumerate(WAYS)]
    project(pytester, base_url, *lines, retries=1, **profile)
    conftest = pytester.path / "conftest.py"
    breaks = 'lambda city, text: (_ for _ in ()).throw(RuntimeError(f"broke on {text}"))'
    text = conftest.read_text().replace('lambda city, text: "sent"', breaks)
    conftest.write_text(text)
    (pytester.path / ".env").write_text(f"DOT_KEY={CANARIES['dotenv']}\n")


def leaks(pytester: pytest.Pytester, result: pytest.RunResult) -> list[tuple[str, str]]:
    """Which canaries are in which output, `.env` and the configuration left aside."""
    texts = {"stdout": result.stdout.str(), "stderr": result.stderr.str()}
    texts |= {str(path): text for path, text in _written(pytester.path)}
    return [
        (place, name)
        for place, text in texts.items()
        for name, secret in CANARIES.items()
        if any(form in text for form in spellings(secret))
    ]


def _written(root: Path) -> Iterator[tuple[Path, str]]:
    for path in root.rglob("*"):
        given = path.name in (".env", "pyproject.toml", "conftest.py")
        if path.is_file() and not given and "__pycache__" not in path.parts:
            yield path, path.read_bytes().decode("latin-1")


def run(pytester: pytest.Pytester, *options: str) -> pytest.RunResult:
    reports = ("--json-report", "--json-report-file=report.json", "--junitxml=junit.xml")
    return pytester.runpytest_subprocess("--fc-eval", *reports, *options)


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(LOUD, id="loud"),
        pytest.param((*LOUD, "-n", "2"), id="loud-with-workers"),
        pytest.param((*LOUD, *LOGGED), id="with-debug-logs"),
        pytest.param(QUIET, id="native-tracebacks"),
    ],
)
def test_a_key_and_headers_are_nowhere(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    monkeypatch.setenv("CANARY_KEY", CANARIES["environment"])
    with endpoint(echo) as model:
        query = quote(CANARIES["query"], safe="")
        lay_out(pytester, f"{model.base_url}?api_key={query}", **IN_HEADERS)
        result = run(pytester, *options)

    # Each was sent, so that there was something to echo.
    for name in ("environment", "header", "bearer"):
        assert CANARIES[name] in str(model.log[0].headers)
    assert query in model.log[0].path
    assert leaks(pytester, result) == []


@pytest.mark.parametrize("options", [LOUD, QUIET], ids=["loud", "native-tracebacks"])
def test_user_and_password_of_a_url_are_nowhere(
    pytester: pytest.Pytester, options: tuple[str, ...]
) -> None:
    with endpoint(echo) as model:
        user, password = (quote(CANARIES[name], safe="") for name in ("user", "password"))
        lay_out(pytester, f"http://{user}:{password}@127.0.0.1:{model.port}/v1")
        result = run(pytester, *options)

    sent = base64.b64encode(f"{CANARIES['user']}:{CANARIES['password']}".encode()).decode()
    assert sent in str(model.log[0].headers)
    assert leaks(pytester, result) == []


def test_a_key_of_the_env_file_is_nowhere(pytester: pytest.Pytester) -> None:
    with endpoint(echo) as model:
        lay_out(pytester, model.base_url, api_key_env="DOT_KEY")
        result = run(pytester, *LOUD)

    assert CANARIES["dotenv"] in str(model.log[0].headers)
    assert leaks(pytester, result) == []


CRASHES: Mapping[str, str] = {
    "in-a-fixture": """
@pytest.fixture(autouse=True)
def broken(request):
    environ = dict(os.environ)
    raise RuntimeError(os.environ["CANARY_KEY"])
""",
    "at-the-end": """
from fc_eval.plugin.gather import RunLog
def finish(self):
    settings, environ = self._evaluation.settings, dict(os.environ)
    raise RuntimeError(os.environ["CANARY_KEY"])
RunLog.finish = finish
""",
    "in-collection": """
from fc_eval.plugin.collect import CaseFile
def collect(self):
    environ = dict(os.environ)
    raise RuntimeError(os.environ["CANARY_KEY"])
CaseFile.collect = collect
""",
    "while-it-opens": """
from fc_eval.plugin import session
def check_reach(profile, environ, *, root):
    raise RuntimeError("no luck")
session.check_reach = check_reach
""",
}


@pytest.mark.parametrize("workers", ["0", "2"], ids=["one-process", "two-workers"])
@pytest.mark.parametrize("crash", CRASHES)
def test_a_harness_that_breaks_shows_no_key(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, crash: str, workers: str
) -> None:
    monkeypatch.setenv("CANARY_KEY", CANARIES["environment"])
    with endpoint(echo) as model:
        lay_out(pytester, model.base_url, **IN_HEADERS)
        conftest = pytester.path / "conftest.py"
        conftest.write_text(conftest.read_text() + CRASHES[crash])
        result = run(pytester, *LOUD, "-n", workers)

    assert result.ret != 0
    assert "RuntimeError" in result.stdout.str() + result.stderr.str()
    assert leaks(pytester, result) == []
