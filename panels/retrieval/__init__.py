"""The Retrieval panel: what is searched, the search itself, and what goes with a message."""
