"""The rows of jobs: work too long for one request, done by a process of its own."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone

from memories.console.keys import KEY_LENGTH, unguessable
from memories.console.parts import Progress


class State(models.TextChoices):
    """Where a job stands. From ``committing`` on it can no longer be cancelled."""

    QUEUED = "queued", "waiting"
    STARTING = "starting"
    RUNNING = "running"
    COMMITTING = "committing", "writing"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


AT_WORK = (State.STARTING, State.RUNNING, State.COMMITTING)
UNFINISHED = (State.QUEUED, *AT_WORK)


class Job(models.Model):
    """One job. ``process`` is who works on it (see ``audit_process``), ``heartbeat_at`` its last sign of
    life. ``parameters`` are what its kind needs, the person's note among them until it has ended.

    ``result`` has ``changed`` (a count), ``unchanged`` (a count), ``refused`` and ``skipped`` (by memory id).
    """

    key = models.CharField(max_length=KEY_LENGTH, primary_key=True, default=unguessable, editable=False)
    kind = models.CharField(max_length=16)
    label = models.TextField()
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    actor = models.TextField()
    back = models.TextField()
    parameters = models.JSONField(default=dict)
    operation_id = models.TextField()
    state = models.CharField(max_length=12, choices=State.choices, default=State.QUEUED, db_index=True)
    cancel_wanted = models.BooleanField(default=False)
    process = models.TextField(blank=True)
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField()
    queued_at = models.DateTimeField(db_index=True)
    started_at = models.DateTimeField(null=True)
    heartbeat_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    stored = models.BooleanField(default=False)
    result = models.JSONField(default=dict)
    error_code = models.TextField(blank=True)
    error_message = models.TextField(blank=True)

    objects: ClassVar[models.Manager[Job]] = models.Manager()

    class Meta:
        app_label = "memories"
        default_permissions: ClassVar = ()

    @property
    def is_unfinished(self) -> bool:
        return self.state in UNFINISHED

    @property
    def can_be_cancelled(self) -> bool:
        early = self.state in (State.QUEUED, State.STARTING, State.RUNNING)
        return early and not self.cancel_wanted

    def progress(self, at: datetime | None = None) -> Progress:
        """How far it is at a moment (now, by default); the rate is memories a second since it started, told
        while they are prepared: the commit takes them all at once."""
        seconds = ((at or timezone.now()) - self.started_at).total_seconds() if self.started_at else 0.0
        rate = self.done / seconds if seconds > 0 and self.state == State.RUNNING else 0.0
        left = (self.total - self.done) / rate if rate and self.done < self.total else None
        return Progress(self.label, self.done, self.total, rate, left)
