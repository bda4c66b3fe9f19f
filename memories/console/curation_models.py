"""What people have decided about memories, beside what is stored of it: each with what they saw then."""

from __future__ import annotations

from typing import ClassVar

from django.db import models


class ConflictResolution(models.Model):
    """One decision about a conflict, or its reopening. ``claims`` are both sides as they stood: what each
    said, where it came from and since when. ``operation_id`` joins it to the audit and to the revisions.

    Actors are kept as text, as in the audit: deleting a person changes nothing.
    """

    conflict_id = models.CharField(max_length=64, db_index=True)
    subject = models.TextField()
    claim_key = models.TextField()
    resolution = models.CharField(max_length=16)
    loser = models.CharField(max_length=16, blank=True)
    note = models.TextField()
    actor = models.CharField(max_length=200)
    at = models.DateTimeField()
    operation_id = models.CharField(max_length=64)
    claims = models.JSONField()

    objects: ClassVar[models.Manager[ConflictResolution]] = models.Manager()

    class Meta:
        app_label = "memories"
        default_permissions: ClassVar = ()
        ordering: ClassVar = ("-at", "-pk")


class NotDuplicates(models.Model):
    """Two memories of which a person has said that they are no duplicates, as long as both say the same as
    then. ``one`` is the smaller id."""

    one = models.CharField(max_length=64)
    other = models.CharField(max_length=64)
    one_content = models.CharField(max_length=64)
    other_content = models.CharField(max_length=64)
    actor = models.CharField(max_length=200)
    at = models.DateTimeField()

    objects: ClassVar[models.Manager[NotDuplicates]] = models.Manager()

    class Meta:
        app_label = "memories"
        default_permissions: ClassVar = ()
        constraints: ClassVar = (
            models.UniqueConstraint(fields=("one", "other"), name="not_duplicates_once_a_pair"),
        )


class Dismissal(models.Model):
    """An item of the review that a person has put aside, as long as what it is about stays as it was:
    ``state`` is a digest of that."""

    kind = models.CharField(max_length=32)
    item = models.CharField(max_length=200)
    state = models.CharField(max_length=64)
    actor = models.CharField(max_length=200)
    at = models.DateTimeField()

    objects: ClassVar[models.Manager[Dismissal]] = models.Manager()

    class Meta:
        app_label = "memories"
        default_permissions: ClassVar = ()
        constraints: ClassVar = (
            models.UniqueConstraint(fields=("kind", "item"), name="dismissed_once_an_item"),
        )
