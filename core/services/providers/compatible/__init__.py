"""Any server that speaks OpenAI's Chat Completions."""
