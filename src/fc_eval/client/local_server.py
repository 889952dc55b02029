"""The child process of `client.local`: one GGUF file behind a chat-completions endpoint.

Run as a script, so that it needs nothing of this package on the path: `local_server.py MODEL ALIAS
CONTEXT`. It writes the base URL to standard output in one line when the model is ready, and ends
when its standard input does, which also happens when the process that started it dies. The log of
llama.cpp goes to standard error, all of it.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any


def main(model: str, alias: str, context: int) -> None:
    """Serve *model* under the name *alias*, with *context* tokens, until standard input ends."""
    answer = os.dup(1)
    os.dup2(2, 1)  # llama.cpp is free with its output; the answer has a line of its own
    xllamacpp: Any = importlib.import_module("xllamacpp")

    params = xllamacpp.CommonParams()
    params.model.path = model
    params.model_alias = {alias}
    params.n_ctx = context
    # One slot: a batch of several conversations rounds differently, and answers shall repeat.
    params.n_parallel = 1
    # llama.cpp's threads wait for each other by spinning: one of them without a core of its own
    # makes all of them some twenty times slower, so half of the cores are left to the session.
    threads = max(1, (os.cpu_count() or 1) // 2)
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.ui = False
    server = xllamacpp.Server(params)
    os.write(answer, f"{server.listening_address}/v1\n".encode())
    sys.stdin.buffer.read()
    os._exit(0)  # nothing to save, and a generation under way would delay an orderly end


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
