"""Maintenance of the files: what has grown is compacted, what is old is removed, and nothing of what is
stored changes.

It never runs by itself. ``Maintenance`` is what a timer, the command or the console asks.
"""

from __future__ import annotations

from memories.repository.upkeep.maintenance import Maintenance
from memories.repository.upkeep.planning import Action, Mode, Plan, TablePlan
from memories.repository.upkeep.policy import Policy
from memories.repository.upkeep.results import MaintenanceResult, Status

__all__ = ["Action", "Maintenance", "MaintenanceResult", "Mode", "Plan", "Policy", "Status", "TablePlan"]
