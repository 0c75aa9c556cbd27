"""Knowledge as a server of the Model Context Protocol, for any client over stdio."""
