"""Benchmarks: what the suite claims about itself, measured on data that anyone can make again."""

from __future__ import annotations
