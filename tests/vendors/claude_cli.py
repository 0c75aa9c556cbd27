"""A `claude` that speaks the documented stream-json; what it says stands in `script.json` beside it.

It checks its command line as the real one does, keeps what it was given in `asked.json`, and knows nothing of the
program. Written after 2.1.197 was watched against a loopback server, 2026-11-20.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

FLAGS = {"-p", "--print", "--verbose", "--include-partial-messages", "--no-session-persistence"}
FLAGS |= {"--disable-slash-commands", "--strict-mcp-config"}
VALUED = {"--input-format", "--output-format", "--model", "--effort", "--system-prompt-file", "--tools"}
VALUED |= {"--setting-sources", "--json-schema", "--mcp-config", "--allowedTools", "--max-turns"}
EFFORTS = {"low", "medium", "high", "xhigh", "max"}
HANGS_S = 60
HERE = Path(sys.argv[0]).parent
USAGE = {
    "input_tokens": 10,
    "cache_creation_input_tokens": 5,
    "cache_read_input_tokens": 100,
    "output_tokens": 12,
    "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 0},
}


def say(kind: str, **fields: Any) -> None:
    """Write one line."""
    sys.stdout.write(json.dumps({"type": kind, "session_id": "s1", "uuid": "u1", **fields}) + "\n")
    sys.stdout.flush()


def fail(message: str) -> None:
    """Refuse the command line."""
    sys.stderr.write(f"error: {message}\n")
    sys.exit(1)


def options(arguments: list[str]) -> dict[str, str]:
    """Read the command line, refusing what is unknown."""
    found: dict[str, str] = {}
    rest = list(arguments)
    while rest:
        name = rest.pop(0)
        if name in FLAGS:
            found[name] = ""
        elif name in VALUED and rest:
            found[name] = rest.pop(0)
        else:
            fail(f"unknown option '{name}'")
    if found.get("--output-format") == "stream-json" and "--verbose" not in found:
        fail("When using --print, --output-format=stream-json requires --verbose")
    if found.get("--effort", "low") not in EFFORTS:
        fail(f"option '--effort <level>' argument '{found['--effort']}' is invalid")
    return found


def stream(text: str, thinking: str, stop_reason: str | None) -> None:
    """The partial messages of one reply."""
    start = {"id": "msg_1", "role": "assistant", "content": [], "usage": {**USAGE, "output_tokens": 1}}
    event({"type": "message_start", "message": start})
    blocks = [("thinking", "thinking", thinking)] if thinking else []
    for index, (kind, name, content) in enumerate([*blocks, ("text", "text", text)]):
        event({"type": "content_block_start", "index": index, "content_block": {"type": kind, name: ""}})
        for piece in [content[at : at + 5] for at in range(0, len(content), 5)]:
            event(
                {
                    "type": "content_block_delta",
                    "index": index,
                    "delta": {"type": f"{kind}_delta", name: piece},
                }
            )
        whole = {"id": "msg_1", "role": "assistant", "content": [{"type": kind, name: content}]}
        say("assistant", message=whole, parent_tool_use_id=None, request_id="req_1")
        event({"type": "content_block_stop", "index": index})
    if stop_reason is not None:
        delta: dict[str, Any] = {"stop_reason": stop_reason, "stop_sequence": None}
        event({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 12}})
        event({"type": "message_stop"})


def event(value: dict[str, Any]) -> None:
    """One partial message."""
    say("stream_event", event=value, parent_tool_use_id=None)


def result(script: dict[str, Any], given: dict[str, str]) -> None:
    """The last line."""
    fields: dict[str, Any] = {
        "subtype": "success",
        "is_error": False,
        "api_error_status": None,
        "result": script.get("text", "Hello there."),
        "stop_reason": script.get("stop_reason", "end_turn"),
        "total_cost_usd": 0.0125,
        "usage": USAGE,
        "terminal_reason": "completed",
        **script.get("result", {}),
    }
    if "--json-schema" in given and "structured" in script:
        fields["structured_output"] = script["structured"]
    say("result", **fields)
    sys.exit(1 if fields["is_error"] else 0)


def hang() -> None:
    """Wait to be killed. Bounded: where a test fails to kill it, the alarm does, and nothing is left behind."""
    signal.alarm(HANGS_S)
    signal.pause()


def main() -> None:
    """Be `claude -p`."""
    if sys.argv[1:] == ["hang"]:
        hang()
    given = options(sys.argv[1:])
    script = json.loads((HERE / "script.json").read_text())
    system = Path(given["--system-prompt-file"]).read_text() if "--system-prompt-file" in given else ""
    prompt = sys.stdin.read()
    servers = json.loads(Path(given["--mcp-config"]).read_text()) if "--mcp-config" in given else None
    asked = {
        "options": given,
        "system": system,
        "prompt": prompt,
        "mcp": servers,
        "env": dict(os.environ),
        "cwd": str(Path.cwd()),
        "files": sorted(path.name for path in Path.cwd().iterdir()),
        "pid": os.getpid(),
    }
    if script.get("child"):
        asked["child"] = subprocess.Popen([sys.executable, __file__, "hang"]).pid
    (HERE / "asked.json").write_text(json.dumps(asked))
    say("system", subtype="init", tools=[], model="claude-opus-5-5", apiKeySource="none")
    sys.stdout.write("not json at all\n")
    if script.get("stderr"):
        sys.stderr.write(script["stderr"] + "\n")
    if "exit" in script:
        sys.exit(script["exit"])
    if "error" in script:
        words = {"role": "assistant", "model": "<synthetic>", "content": [{"type": "text", "text": "x"}]}
        say("assistant", message=words, error=script["error"], request_id="req_1", parent_tool_use_id=None)
        result({**script, "result": {"is_error": True, **script.get("result", {})}}, given)
    stream(
        script.get("text", "Hello there."), script.get("thinking", ""), script.get("stop_reason", "end_turn")
    )
    if script.get("hangs"):
        hang()
    if script.get("dies"):
        os._exit(9)
    result(script, given)


if __name__ == "__main__":
    main()
