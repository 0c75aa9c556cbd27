"""Talk: discussions, the context that a model sees, caching, and turns."""
