"""Invented memories of three small projects, to look at the suite with. Nothing in them is real.

They are in English, French and Norwegian, and hold what a real collection grows over the years: relations,
corrections, notes that say the same twice, notes nobody has needed for long, and two pairs that disagree.
"""

from __future__ import annotations

from memories.demo.loader import DemoOutcome, load_demo
from memories.demo.records import DemoMemory, demo_memories

__all__ = ["DemoMemory", "DemoOutcome", "demo_memories", "load_demo"]
