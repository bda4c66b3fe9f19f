"""The audit history: tables that only grow, in SQL of our own, since the triggers are half of them."""

from __future__ import annotations

from django.db import migrations, models

TABLES = """
CREATE TABLE memories_audit_event (
    position INTEGER PRIMARY KEY CHECK (position > 0),
    operation_id TEXT NOT NULL UNIQUE,
    at TEXT NOT NULL,
    actor TEXT NOT NULL,
    user_id TEXT NOT NULL,
    address TEXT NOT NULL,
    process TEXT NOT NULL,
    action TEXT NOT NULL,
    undoes TEXT NOT NULL,
    ids TEXT NOT NULL,
    ids_total INTEGER NOT NULL,
    ids_digest TEXT NOT NULL,
    text_digest TEXT NOT NULL,
    mac TEXT NOT NULL
);
CREATE INDEX memories_audit_event_at ON memories_audit_event (at);
CREATE INDEX memories_audit_event_undoes ON memories_audit_event (undoes) WHERE undoes != '';

CREATE TABLE memories_audit_completion (
    position INTEGER PRIMARY KEY CHECK (position > 0),
    event_id INTEGER NOT NULL UNIQUE REFERENCES memories_audit_event (position),
    at TEXT NOT NULL,
    result TEXT NOT NULL CHECK (result IN ('done', 'nothing', 'failed', 'not_done')),
    code TEXT NOT NULL,
    changed INTEGER,
    unchanged INTEGER,
    refused INTEGER,
    stored INTEGER NOT NULL CHECK (stored IN (0, 1)),
    recovered INTEGER NOT NULL CHECK (recovered IN (0, 1)),
    mac TEXT NOT NULL
);

CREATE TABLE memories_audit_payload (
    id INTEGER PRIMARY KEY,
    event_id INTEGER NOT NULL REFERENCES memories_audit_event (position),
    part TEXT NOT NULL CHECK (part IN ('ids', 'text')),
    salt TEXT NOT NULL,
    body TEXT NOT NULL,
    blanked_at TEXT,
    UNIQUE (event_id, part)
);

CREATE TABLE memories_audit_head (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    position INTEGER NOT NULL,
    mac TEXT NOT NULL,
    seal TEXT NOT NULL
);
"""

APPEND_ONLY = "the audit history is append only"
ONLY_BLANKED = "a payload of the audit history can only be blanked"
ONLY_GROWS = "the audit history only grows"

BLANKS = """NEW.id = OLD.id AND NEW.event_id = OLD.event_id AND NEW.part = OLD.part
    AND NEW.salt = '' AND NEW.body = '' AND OLD.blanked_at IS NULL AND NEW.blanked_at IS NOT NULL"""


def guard(table: str, change: str, says: str, when: str = "TRUE") -> str:
    return (
        f"CREATE TRIGGER memories_audit_{table}_{change.lower()} BEFORE {change} ON memories_audit_{table} "
        f"WHEN {when} BEGIN SELECT RAISE(ABORT, '{says}'); END"
    )


def taken(table: str, *keys: str) -> str:
    same = " OR ".join(keys)
    return f"EXISTS (SELECT 1 FROM memories_audit_{table} old WHERE {same})"


# INSERT OR REPLACE takes rows away without asking a DELETE trigger; so inserting over a row is refused too.
GUARDS = [
    guard("event", "UPDATE", APPEND_ONLY),
    guard("event", "DELETE", APPEND_ONLY),
    guard(
        "event",
        "INSERT",
        APPEND_ONLY,
        taken("event", "old.position = NEW.position", "old.operation_id = NEW.operation_id"),
    ),
    guard("completion", "UPDATE", APPEND_ONLY),
    guard("completion", "DELETE", APPEND_ONLY),
    guard(
        "completion",
        "INSERT",
        APPEND_ONLY,
        taken("completion", "old.position = NEW.position", "old.event_id = NEW.event_id"),
    ),
    guard("payload", "UPDATE", ONLY_BLANKED, f"NOT ({BLANKS})"),
    guard("payload", "DELETE", ONLY_BLANKED),
    guard(
        "payload",
        "INSERT",
        ONLY_BLANKED,
        taken("payload", "old.id = NEW.id", "(old.event_id = NEW.event_id AND old.part = NEW.part)"),
    ),
    guard("head", "UPDATE", ONLY_GROWS, "NEW.position <= OLD.position"),
    guard("head", "DELETE", ONLY_GROWS),
]

UNMANAGED = {"managed": False, "default_permissions": ()}
RESULTS = [("done", "Done"), ("nothing", "Nothing"), ("failed", "Failed"), ("not_done", "not done")]


class Migration(migrations.Migration):
    dependencies = [("memories", "0001_initial")]

    operations = [
        # There is no way back: a history that a migration could drop would not be one.
        migrations.RunSQL(tuple(statement for statement in TABLES.split(";") if statement.strip())),
        migrations.RunSQL(tuple(GUARDS)),
        migrations.CreateModel(
            name="AuditEvent",
            fields=[
                ("position", models.PositiveBigIntegerField(primary_key=True, serialize=False)),
                ("operation_id", models.TextField(unique=True)),
                ("at", models.DateTimeField()),
                ("actor", models.TextField()),
                ("user_id", models.TextField()),
                ("address", models.TextField()),
                ("process", models.TextField()),
                ("action", models.TextField()),
                ("undoes", models.TextField()),
                ("ids", models.TextField()),
                ("ids_total", models.PositiveIntegerField()),
                ("ids_digest", models.TextField()),
                ("text_digest", models.TextField()),
                ("mac", models.TextField()),
            ],
            options={**UNMANAGED, "db_table": "memories_audit_event"},
        ),
        migrations.CreateModel(
            name="AuditCompletion",
            fields=[
                ("position", models.PositiveBigIntegerField(primary_key=True, serialize=False)),
                (
                    "event",
                    models.OneToOneField(
                        on_delete=models.deletion.DO_NOTHING,
                        related_name="completion",
                        to="memories.auditevent",
                    ),
                ),
                ("at", models.DateTimeField()),
                ("result", models.TextField(choices=RESULTS)),
                ("code", models.TextField()),
                ("changed", models.PositiveIntegerField(null=True)),
                ("unchanged", models.PositiveIntegerField(null=True)),
                ("refused", models.PositiveIntegerField(null=True)),
                ("stored", models.BooleanField()),
                ("recovered", models.BooleanField()),
                ("mac", models.TextField()),
            ],
            options={**UNMANAGED, "db_table": "memories_audit_completion"},
        ),
        migrations.CreateModel(
            name="AuditPayload",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                (
                    "event",
                    models.ForeignKey(
                        on_delete=models.deletion.DO_NOTHING,
                        related_name="payloads",
                        to="memories.auditevent",
                    ),
                ),
                ("part", models.TextField()),
                ("salt", models.TextField()),
                ("body", models.TextField()),
                ("blanked_at", models.DateTimeField(null=True)),
            ],
            options={**UNMANAGED, "db_table": "memories_audit_payload"},
        ),
    ]
