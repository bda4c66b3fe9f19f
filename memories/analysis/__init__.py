"""What is computed over all memories: which are near to which, which say the same, what is stale.

Each analysis starts from one snapshot, runs once for each state of the database and is shared.
"""
