"""A turn: the words to disk, then the call, the reply to disk, then shown as done."""
