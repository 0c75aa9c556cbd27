"""The parts of the context stack: how each layer is rendered, put on the wire and compared."""
