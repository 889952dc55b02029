from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import pytest

from fc_eval.bfcl.data import Download, Release, cache_folder, data_folder, fetch, find_data
from fc_eval.errors import ConfigError

MARK = "BFCL_v4_simple_python.json"


def unpacked(folder: Path) -> Path:
    data = folder / "bfcl_eval" / "data"
    data.mkdir(parents=True)
    (data / MARK).write_text("", encoding="utf-8")
    return data


def wheel(folder: Path) -> tuple[Path, str]:
    path = folder / "bfcl_eval-1-py3-none-any.whl"
    names = (
        f"bfcl_eval/data/{MARK}",
        "bfcl_eval/data/possible_answer/a.json",
        "bfcl_eval/data/unused_datasets/b.json",
        "bfcl_eval/data/../../../outside.json",
        "bfcl_eval/constants/default_prompts.py",
        "bfcl_eval/constants/model_config.py",
        "bfcl_eval/eval_checker/multi_turn_eval/func_source_code/math_api.py",
        "bfcl_eval/__init__.py",
    )
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, name)
    return path, hashlib.sha256(path.read_bytes()).hexdigest()


def copying(source: Path) -> Download:
    def download(release: Release, folder: Path) -> None:
        (folder / source.name).write_bytes(source.read_bytes())

    return download


def release(sha256: str) -> Release:
    return Release(distribution="bfcl-eval", version="1", sha256=sha256)


def test_the_variable_goes_before_the_ini_value(tmp_path: Path) -> None:
    first, second = unpacked(tmp_path / "a"), unpacked(tmp_path / "b")

    assert find_data({"FC_BFCL_DATA": str(first)}, second) == first
    assert find_data({"FC_BFCL_DATA": ""}, second) == second


def test_the_cache_is_searched_last(tmp_path: Path) -> None:
    data = unpacked(tmp_path / "bfcl-eval-2026.3.23")

    assert find_data({"FC_BFCL_CACHE": str(tmp_path)}) == data


def test_a_named_place_without_the_data_is_never_passed_over(tmp_path: Path) -> None:
    data = unpacked(tmp_path / "a")

    with pytest.raises(ConfigError, match="FC_BFCL_DATA"):
        find_data({"FC_BFCL_DATA": str(tmp_path / "nothing")}, data)


def test_without_the_data_the_command_that_gets_it_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="pytest --fc-bfcl-fetch"):
        find_data({"FC_BFCL_CACHE": str(tmp_path)})


def test_the_package_folder_and_its_data_folder_are_both_fine(tmp_path: Path) -> None:
    data = unpacked(tmp_path)

    assert data_folder(data) == data_folder(data.parent) == data


def test_the_cache_is_where_the_platform_keeps_caches(tmp_path: Path) -> None:
    folder = cache_folder({"XDG_CACHE_HOME": str(tmp_path), "LOCALAPPDATA": str(tmp_path)})

    assert folder.parts[-2:] == ("fc_eval", "bfcl")


def test_only_data_prompts_and_simulators_are_unpacked(tmp_path: Path) -> None:
    source, sha256 = wheel(tmp_path)
    cache = tmp_path / "cache"

    data = fetch(cache, release=release(sha256), download=copying(source))

    target = cache / "bfcl-eval-1"
    assert data == target / "bfcl_eval" / "data"
    files = {path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_file()}
    assert files == {
        source.name,
        f"bfcl_eval/data/{MARK}",
        "bfcl_eval/data/possible_answer/a.json",
        "bfcl_eval/constants/default_prompts.py",
        "bfcl_eval/eval_checker/multi_turn_eval/func_source_code/math_api.py",
    }
    assert list(cache.iterdir()) == [target]


def test_data_is_fetched_once(tmp_path: Path) -> None:
    source, sha256 = wheel(tmp_path)
    first = fetch(tmp_path / "cache", release=release(sha256), download=copying(source))

    def refuse(release: Release, folder: Path) -> None:
        raise AssertionError("downloaded again")

    assert fetch(tmp_path / "cache", release=release(sha256), download=refuse) == first


def test_a_session_that_was_faster_wins(tmp_path: Path) -> None:
    source, sha256 = wheel(tmp_path)
    cache = tmp_path / "cache"

    def late(pinned: Release, folder: Path) -> None:
        fetch(cache, release=pinned, download=copying(source))
        copying(source)(pinned, folder)

    assert (fetch(cache, release=release(sha256), download=late) / MARK).is_file()


@pytest.mark.parametrize(
    ("sha256", "copies", "problem"),
    [
        pytest.param("0" * 64, True, "SHA-256", id="another-wheel"),
        pytest.param("0" * 64, False, "0 wheels", id="no-wheel"),
    ],
)
def test_what_is_not_the_pinned_wheel_leaves_nothing(
    tmp_path: Path, sha256: str, copies: bool, problem: str
) -> None:
    source, _ = wheel(tmp_path)
    cache = tmp_path / "cache"

    def nothing(release: Release, folder: Path) -> None: ...

    with pytest.raises(ConfigError, match=problem):
        fetch(cache, release=release(sha256), download=copying(source) if copies else nothing)
    assert list(cache.iterdir()) == []
