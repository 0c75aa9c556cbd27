"""The child process that holds the embedded model: serves it on loopback, ends when its parent does.

It reads one JSON line on standard input (paths, the key, sizes), answers one JSON line on standard output, and lives
until standard input ends.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import sys
import threading
import time
import traceback
from typing import IO, Any

PARENT_CHECK_S, CALM_CHECK_S = 2.0, 10.0
"""Interval of looks for the parent: while the model loads, and once the end of standard input tells of its end, which a
forked sibling may keep open."""

NICENESS = 2
"""The window goes a little before: its 99th percentile of a 2 ms sleep is 3 ms instead of 6 while the model reads."""

BATCH_TOKENS = 256
"""Tokens read in one go: a cancelled call frees the model after at most one of them (0.6 s; at 2,048 it took 5)."""


def serve(config: dict[str, Any]) -> Any:
    """Start the server as `config` says. Returns it; it listens until it is dropped."""
    xllamacpp = importlib.import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = config["model_path"]
    params.model_alias = {config["model_id"]}
    params.api_keys = [config["api_key"]]
    params.hostnames = ["127.0.0.1"]
    params.cors_origins = "http://127.0.0.1"
    params.port = 0
    params.ui = False
    params.verbosity = 1
    params.n_ctx = config["context_tokens"]
    params.n_batch = params.n_ubatch = BATCH_TOKENS
    params.n_parallel = 1
    params.cache_prompt = True
    params.cache_ram_mib = config["cache_ram_mib"]
    params.cpuparams.n_threads = max(
        1, config["cores"] - 1
    )  # writing: one core stays free, 80 tokens a second do
    params.cpuparams_batch.n_threads = config[
        "cores"
    ]  # reading a prompt: all of them, it is what one waits for
    params.cpuparams.poll = params.cpuparams_batch.poll = (
        0  # no spinning: it costs others and gains nothing here
    )
    if config.get("slot_save_path"):
        params.slot_save_path = config["slot_save_path"]
    return xllamacpp.Server(params)


def watch_parent(parent: int, serves: threading.Event) -> None:
    """End this process soon after `parent` is gone."""
    while os.getppid() == parent:
        time.sleep(CALM_CHECK_S if serves.is_set() else PARENT_CHECK_S)
    os._exit(0)


def main() -> None:
    """Read the configuration, serve, say where, wait for the end of standard input; then end at once, whatever failed.

    The interpreter must not unwind: the library's server then joins a thread that may never end, and the thread that
    looks for the parent is stopped before that. `server` stays a local of this frame for the same reason.
    `PR_SET_PDEATHSIG` would kill too early: it counts the end of the parent's thread, which ends with the start.
    """
    code = 3
    try:
        serves = threading.Event()
        config, answers = _listen(serves)
        try:
            server = serve(config)
        except (RuntimeError, ImportError, OSError, ValueError) as error:
            print(json.dumps({"error": str(error)}), file=answers, flush=True)
        else:
            print(json.dumps({"url": server.listening_address}), file=answers, flush=True)
            serves.set()
            sys.stdin.read()
            code = 0
    except BrokenPipeError:
        code = 0  # the parent closed while the model was loading
    except BaseException:  # noqa: BLE001 (the edge of the process: told, and ended below)
        with contextlib.suppress(OSError, ValueError):
            traceback.print_exc()
            sys.stderr.flush()
    finally:
        os._exit(code)


def _listen(serves: threading.Event) -> tuple[dict[str, Any], IO[str]]:
    """The configuration, and where the one answer is written; from now on the parent is looked for, seldom once `serves`."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(AttributeError, OSError):
        os.nice(NICENESS)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    config = json.loads(sys.stdin.readline())
    threading.Thread(target=watch_parent, args=(config["parent_pid"], serves), daemon=True).start()
    return config, answers


if __name__ == "__main__":
    main()
