"""One streaming reader for the conversations of all programs, ours among them; a library of pure parts."""
