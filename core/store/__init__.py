"""The home on disk: discussions, attachments, trash, locks and the derived catalog."""
