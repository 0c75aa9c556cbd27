"""Knowledge that outlives conversations: plain files that a person owns, and what is derived from them."""
