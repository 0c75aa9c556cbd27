"""The things on the screen: each keeps its place, its properties and its Dear PyGui items."""
