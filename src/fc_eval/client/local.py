"""Serve a model file on loopback for as long as a session needs it.

The model runs in a child process: llama.cpp writes its log where it likes, takes the whole process
along when it fails, and can't be stopped in the middle of an answer. The child ends with the
process that started it, however that ends. To the rest of the package it is an endpoint like any
other; what is sent there is not this module's business.
"""

from __future__ import annotations

import asyncio
import importlib.util
import re
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import IO

from fc_eval.agent.profile import ModelProfile
from fc_eval.errors import ConfigError

READY_TIMEOUT_S = 60.0
CONTEXT_TOKENS = 8192
STOP_TIMEOUT_S = 5.0

INSTALL = 'pip install "pytest-fc-eval[local]"'
RESOURCE = re.compile(r"([A-Za-z_]\w+(?:\.\w+)*):([^:]+)")


def check_engine() -> None:
    """Refuse where the engine for model files is not installed.

    Raises:
        ConfigError: It is not.
    """
    if importlib.util.find_spec("xllamacpp") is None:
        raise ConfigError("a local model needs the package 'xllamacpp'", fix=INSTALL)


def find_model(gguf: str, *, root: Path | None = None) -> Path:
    """The model file that a profile names.

    Args:
        gguf: A path, or `package:resource` for a file inside an installed package.
        root: Where a relative path starts; the current folder if None.

    Raises:
        ConfigError: There is no such file or package.
    """
    path = (root or Path()) / gguf
    if path.is_file():
        return path.resolve()
    resource = RESOURCE.fullmatch(gguf)
    if resource is None:
        raise ConfigError(f"no model file at {gguf!r}", fix="correct gguf in the model profile")
    folder = _package_folder(resource[1])
    if folder is None:
        raise ConfigError(
            f"the package {resource[1]!r} of the model file is not installed", fix=INSTALL
        )
    path = folder / resource[2]
    if not path.is_file():
        raise ConfigError(
            f"the package {resource[1]!r} has no file {resource[2]!r}",
            fix=f"correct gguf in the model profile; it has: {_models_in(folder)}",
        )
    return path


def _package_folder(package: str) -> Path | None:
    # The package is found, not imported: one that carries a model may load a framework with it.
    try:
        spec = importlib.util.find_spec(package)
    except ModuleNotFoundError:
        return None
    folders = spec and spec.submodule_search_locations
    return Path(folders[0]) if folders else None


def _models_in(folder: Path) -> str:
    return ", ".join(sorted(path.name for path in folder.glob("*.gguf"))) or "no model file"


@asynccontextmanager
async def serve(profile: ModelProfile, *, root: Path | None = None) -> AsyncIterator[str]:
    """Serve the profile's model file; gives the base URL, such as `http://127.0.0.1:4711/v1`.

    Args:
        profile: With `gguf` set. `ready_timeout_s` limits the loading, 60 s where it is 0.
        root: Where a relative path of the file starts; the current folder if None.

    Raises:
        ConfigError: The extra or the file is missing, or the model can't be loaded in time.
    """
    check_engine()
    model = find_model(profile.gguf or "", root=root)
    timeout_s = profile.ready_timeout_s or READY_TIMEOUT_S
    with tempfile.TemporaryFile() as log, _child(model, profile.slug, log) as child:
        assert child.stdout is not None
        try:
            line = await asyncio.wait_for(asyncio.to_thread(child.stdout.readline), timeout_s)
        except TimeoutError:
            raise ConfigError(
                f"the model file {profile.gguf!r} was not loaded within {timeout_s:g} s",
                fix="raise ready_timeout_s in the model profile, or take a smaller model",
            ) from None
        if not line:
            raise ConfigError(
                f"the model file {profile.gguf!r} can't be served: {_last_line(log)}",
                fix="name a GGUF file that llama.cpp can load",
            )
        yield line.decode().strip()


@contextmanager
def _child(model: Path, alias: str, log: IO[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    script = Path(__file__).with_name("local_server.py")
    child = subprocess.Popen(
        [sys.executable, str(script), str(model), alias, str(CONTEXT_TOKENS)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        # Ctrl-C is for the session: requests that are under way may still end in order.
        start_new_session=True,
    )
    # Leaving `child` closes the pipes, then waits; end of input is the child's order to stop.
    with child:
        try:
            yield child
        finally:
            assert child.stdin is not None
            child.stdin.close()
            try:
                child.wait(STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                child.kill()


def _last_line(log: IO[bytes]) -> str:
    log.seek(0)
    lines = log.read().decode("utf-8", "replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "no log")[:300]
