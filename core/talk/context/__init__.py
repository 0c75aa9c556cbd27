"""The context stack: curated files, the twelve layers, and the request that is made of them."""
