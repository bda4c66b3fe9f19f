"""The permissions of an app whose table does not exist."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Memory",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
            ],
            options={
                "verbose_name": "memory",
                "verbose_name_plural": "memories",
                "permissions": (
                    ("purge_memory", "Can purge memories for good"),
                    ("merge_tags", "Can rename, merge and delete tags"),
                    ("resolve_conflict", "Can resolve conflicts"),
                    ("approve_lesson", "Can approve lessons"),
                ),
                "managed": False,
                "default_permissions": ("view", "add", "change", "delete"),
            },
        ),
    ]
