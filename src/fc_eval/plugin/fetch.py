"""`--fc-bfcl-fetch`: the one command that gets the data of BFCL onto this machine."""

from __future__ import annotations

import pytest

from fc_eval.bfcl.data import RELEASE, cache_folder, fetch
from fc_eval.errors import FcEvalError
from fc_eval.plugin.options import read_settings


def fetch_data(config: pytest.Config) -> int:
    """Fetch the data into the cache and say where it is; the result is pytest's exit code.

    Raises:
        pytest.UsageError: It can't be had, or is not what was published.
    """
    try:
        data = fetch(cache_folder(read_settings(config).environ))
    except FcEvalError as error:
        raise pytest.UsageError(str(error)) from error
    print(f"{RELEASE.distribution} {RELEASE.version} sha256={RELEASE.sha256}")
    print(f"bfcl_data={data}")
    return int(pytest.ExitCode.OK)
