"""A tool day in pydantic-ai, run by its own interpreter: a line of JSON with the words comes in, a line goes out when the turn is over."""

import json
import os
import sys
from pathlib import Path

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models.anthropic import AnthropicModel, AnthropicModelSettings
from pydantic_ai.providers.anthropic import AnthropicProvider

model = AnthropicModel(
    os.environ["PEER_MODEL"],
    provider=AnthropicProvider(
        api_key=os.environ["ANTHROPIC_API_KEY"], base_url=os.environ["ANTHROPIC_BASE_URL"]
    ),
)
settings = AnthropicModelSettings(
    max_tokens=32_000,
    anthropic_cache_tool_definitions=True,
    anthropic_cache_instructions=True,
    anthropic_cache_messages=True,
    anthropic_thinking={"type": "adaptive", "display": "summarized"},
)
agent = Agent(model, instructions=os.environ["PEER_SYSTEM"], model_settings=settings)


@agent.tool_plain
def read(path: str) -> str:
    """Read a file of the project."""
    return Path(path).read_text(encoding="utf-8")


history: list[ModelMessage] = []
for line in sys.stdin:
    result = agent.run_sync(json.loads(line), message_history=history)
    history = result.all_messages()
    print("done", flush=True)
