"""Settings, the project's file, trust and keys: what is read, what counts, and how it is written back."""
