"""The memory suite: the core, and what Django needs to find beside it."""
