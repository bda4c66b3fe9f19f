"""One module a command; what they share is in memories.commands."""
