"""The one owner of state: its loop, its thread, its workers, and the way from each message to its room."""
