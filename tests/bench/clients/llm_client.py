"""A tool day in `llm`, run by its own interpreter, as `pydantic_ai_client` is."""

import json
import os
import sys
from pathlib import Path

import llm
from llm_anthropic import ClaudeMessages

name = os.environ["PEER_MODEL"]
model = ClaudeMessages(name, claude_model_id=name, supports_thinking=True, supports_adaptive_thinking=True)
model.key = os.environ["ANTHROPIC_API_KEY"]


def read(path: str) -> str:
    """Read a file of the project."""
    return Path(path).read_text(encoding="utf-8")


conversation = llm.Conversation(model=model, tools=[llm.Tool.function(read)])
for line in sys.stdin:
    chain = conversation.chain(
        json.loads(line), system=os.environ["PEER_SYSTEM"], options=json.loads(os.environ["PEER_OPTIONS"])
    )
    chain.text()
    print("done", flush=True)
