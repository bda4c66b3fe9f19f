"""Captured conversation: turns on their way into the store, and lessons out of the corrections in them."""

from __future__ import annotations
