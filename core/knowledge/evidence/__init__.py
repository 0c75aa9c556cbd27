"""Evidence: what each item of knowledge stands on, and all that became of it."""
