"""The panel of MCP servers: state, open question, changes and tools of each."""
