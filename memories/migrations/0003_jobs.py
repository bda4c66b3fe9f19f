"""What people have selected, and the jobs that work on it."""

from __future__ import annotations

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import memories.console.keys


class Migration(migrations.Migration):
    dependencies = [
        ("memories", "0002_audit"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Job",
            fields=[
                (
                    "key",
                    models.CharField(
                        default=memories.console.keys.unguessable,
                        editable=False,
                        max_length=32,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("kind", models.CharField(max_length=16)),
                ("label", models.TextField()),
                ("actor", models.TextField()),
                ("back", models.TextField()),
                ("parameters", models.JSONField(default=dict)),
                ("operation_id", models.TextField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "waiting"),
                            ("starting", "Starting"),
                            ("running", "Running"),
                            ("committing", "writing"),
                            ("done", "Done"),
                            ("cancelled", "Cancelled"),
                            ("failed", "Failed"),
                            ("interrupted", "Interrupted"),
                        ],
                        db_index=True,
                        default="queued",
                        max_length=12,
                    ),
                ),
                ("cancel_wanted", models.BooleanField(default=False)),
                ("process", models.TextField(blank=True)),
                ("done", models.PositiveIntegerField(default=0)),
                ("total", models.PositiveIntegerField()),
                ("queued_at", models.DateTimeField(db_index=True)),
                ("started_at", models.DateTimeField(null=True)),
                ("heartbeat_at", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
                ("stored", models.BooleanField(default=False)),
                ("result", models.JSONField(default=dict)),
                ("error_code", models.TextField(blank=True)),
                ("error_message", models.TextField(blank=True)),
                (
                    "owner",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="Selection",
            fields=[
                (
                    "key",
                    models.CharField(
                        default=memories.console.keys.unguessable,
                        editable=False,
                        max_length=32,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("kind", models.CharField(max_length=16)),
                ("query", models.TextField(blank=True)),
                ("ids", models.TextField()),
                ("count", models.PositiveIntegerField()),
                ("back", models.TextField()),
                ("made_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField(db_index=True)),
                ("used_at", models.DateTimeField(null=True)),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "default_permissions": (),
            },
        ),
    ]
