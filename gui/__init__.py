"""The window: the only package that knows Dear PyGui."""
