"""Settings, the project's file, trust and models: what is read, what counts, and how it is written back."""
