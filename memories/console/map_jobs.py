"""The layout of the map as a job: minutes of work that change no memory."""

from __future__ import annotations

from memories.analysis.layout import make_layout
from memories.console.job_models import Job
from memories.console.job_work import Ended, Watch
from memories.repository import MemoryRepository

LAYOUT = "layout"


def layout_job(job: Job, store: MemoryRepository, watch: Watch) -> Ended:
    """Work the layout out and keep it for every later view."""

    def told(done: int, total: int) -> None:
        watch.progress(min(done * job.total // total, job.total - 1), job.total)

    fitted = make_layout(store, told)
    says = f"The map is laid out, {fitted:,} {'memory' if fitted == 1 else 'memories'} by likeness"
    # Nothing of it is in the store: there is no operation to undo.
    return Ended(False, {"changed": 0, "unchanged": 0, "refused": {}, "says": says})
