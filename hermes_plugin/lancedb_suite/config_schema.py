"""The settings panel of Hermes' desktop and web pages; it edits <home>/lancedb-suite/config.json."""

from __future__ import annotations

from plugins.memory.config_schema import (
    KIND_BOOL,
    KIND_NUMBER,
    KIND_TEXT,
    ProviderConfigSchema,
    ProviderField,
)

CONFIG_SCHEMA = ProviderConfigSchema(
    name="lancedb-suite",
    label="LanceDB memory suite",
    fields=(
        ProviderField(
            key="auto_prefetch",
            label="Recall before each turn",
            kind=KIND_BOOL,
            default="false",
            description="Put memories that match the message in front of the turn. Never in group chats.",
            inline=True,
        ),
        ProviderField(
            key="prefetch_budget_chars",
            label="Recall budget",
            kind=KIND_NUMBER,
            default="1500",
            description="Characters that recall may add to a turn, 0 to 10000.",
            inline=True,
        ),
        ProviderField(
            key="auto_capture",
            label="Record turns",
            kind=KIND_BOOL,
            default="false",
            description="Record conversation turns, each person's for themselves.",
        ),
        ProviderField(
            key="capture_dedup_threshold",
            label="Duplicate threshold",
            kind=KIND_NUMBER,
            default="0.88",
            description="Similarity from which two recorded turns count as one, 0 to 1.",
        ),
        ProviderField(
            key="embed_model",
            label="Embedding model",
            kind=KIND_TEXT,
            placeholder="in the process",
            description="Empty: the model inside the process. A plain name: that Ollama model.",
        ),
        ProviderField(
            key="db_path",
            label="Database directory",
            kind=KIND_TEXT,
            placeholder="<Hermes home>/lancedb",
            description="Where the memories are stored.",
        ),
    ),
)
