"""Captured conversation: turns on their way into the store, the corrections in them, and the lessons drawn."""

from __future__ import annotations
