"""Every prompt as a Markdown file. A person overrides one by a file of the same name (core.settings.prompts)."""
