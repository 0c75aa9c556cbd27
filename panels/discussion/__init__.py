"""The list of discussions, the conversation and its composer."""
