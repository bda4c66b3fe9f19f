"""Words: search normalisation, query analysis, entities and tags, typos."""

from __future__ import annotations
