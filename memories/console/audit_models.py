"""The tables of the audit history as Django reads them. Written by ``audit_chain`` alone.

They are made by migration 0002 in plain SQL, triggers and all, and Django does not manage them: nothing
of Django's own, ``flush`` included, has a way to change or empty them.
"""

from __future__ import annotations

from django.db import models


class Result(models.TextChoices):
    """What became of an operation. One without a completion is still open."""

    DONE = "done"
    NOTHING = "nothing"
    FAILED = "failed"
    NOT_DONE = "not_done", "not done"


class AuditEvent(models.Model):
    """The intent of an operation, written before the store changes.

    ``ids`` is a JSON list of the first memories it names, ``ids_total`` how many it names; a digest is
    that of the payload of that part, "" where there is none. ``process`` says who would complete it.
    ``undoes`` is the operation it takes back.
    """

    position = models.PositiveBigIntegerField(primary_key=True)
    operation_id = models.TextField(unique=True)
    at = models.DateTimeField()
    actor = models.TextField()
    user_id = models.TextField()
    address = models.TextField()
    process = models.TextField()
    action = models.TextField()
    undoes = models.TextField()
    ids = models.TextField()
    ids_total = models.PositiveIntegerField()
    ids_digest = models.TextField()
    text_digest = models.TextField()
    mac = models.TextField()

    class Meta:
        app_label = "memories"
        db_table = "memories_audit_event"
        managed = False
        default_permissions = ()


class AuditCompletion(models.Model):
    """How an operation ended. Counts are None where nobody counted; ``stored`` tells whether the store
    holds something under the operation's id; ``recovered`` that this was found out after a crash."""

    position = models.PositiveBigIntegerField(primary_key=True)
    event = models.OneToOneField(AuditEvent, models.DO_NOTHING, related_name="completion")
    at = models.DateTimeField()
    result = models.TextField(choices=Result.choices)
    code = models.TextField()
    changed = models.PositiveIntegerField(null=True)
    unchanged = models.PositiveIntegerField(null=True)
    refused = models.PositiveIntegerField(null=True)
    stored = models.BooleanField()
    recovered = models.BooleanField()
    mac = models.TextField()

    class Meta:
        app_label = "memories"
        db_table = "memories_audit_completion"
        managed = False
        default_permissions = ()


class AuditPayload(models.Model):
    """What a purge can blank: of part ``text`` the note, the parameters and memory text, of part ``ids``
    the whole list of ids where the event holds only its beginning."""

    id = models.BigAutoField(primary_key=True)
    event = models.ForeignKey(AuditEvent, models.DO_NOTHING, related_name="payloads")
    part = models.TextField()
    salt = models.TextField()
    body = models.TextField()
    blanked_at = models.DateTimeField(null=True)

    class Meta:
        app_label = "memories"
        db_table = "memories_audit_payload"
        managed = False
        default_permissions = ()
