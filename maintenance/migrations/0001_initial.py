"""The permissions of an app whose table does not exist."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Maintenance",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
            ],
            options={
                "permissions": (
                    ("compact", "Can compact and reclaim the store"),
                    ("restore", "Can restore a backup over the store"),
                ),
                "managed": False,
                "default_permissions": (),
            },
        ),
    ]
