"""What Hermes Agent loads of this suite.

`lancedb_suite` is the thin plugin folder of the memory provider, `provider` its implementation,
`ram_first_context` a keyword recall tool that stands alone. Nothing here does work at import.
"""
