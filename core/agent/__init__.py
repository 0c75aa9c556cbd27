"""The agent: turns with tools, approvals, the sandbox, the journal, undo of edits."""
