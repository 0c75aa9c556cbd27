"""The Agent panel: what its tools do, what waits for a yes, what they changed, how full the context is."""
