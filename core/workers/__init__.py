"""Workers: what carries out effects, each on its own thread or process."""
