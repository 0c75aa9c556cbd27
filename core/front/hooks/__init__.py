"""The Hook API: loopback HTTP on the same commands and snapshots as the window. Off unless asked for."""
