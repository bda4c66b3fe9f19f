"""Real helpers that several test folders share."""

from __future__ import annotations
