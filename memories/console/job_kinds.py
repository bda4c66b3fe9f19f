"""Every kind of job and what does it."""

from __future__ import annotations

from collections.abc import Mapping

from memories.console import bulk_flow, import_jobs, map_jobs, upkeep_jobs
from memories.console.job_work import Work

KINDS: Mapping[str, Work] = {
    **bulk_flow.KINDS,
    **import_jobs.KINDS,
    **upkeep_jobs.KINDS,
    map_jobs.LAYOUT: map_jobs.layout_job,
}
