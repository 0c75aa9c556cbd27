"""The manager of MCP servers: how each stands, what it asks for, what of it changed, its tools."""
