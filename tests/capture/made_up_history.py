"""An invented `state.db`: the tables of Hermes 0.19 (schema 22) and the talk of two invented people.

Kari runs a small web shop and is served by telegram; Tom keeps a home server and works in a terminal. Each
exchange is (what the assistant had said, what the person wrote next).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path

_TABLES = """
CREATE TABLE schema_version (version INTEGER NOT NULL);
CREATE TABLE sessions (
    id TEXT PRIMARY KEY, source TEXT NOT NULL, user_id TEXT, session_key TEXT, chat_id TEXT, chat_type TEXT,
    thread_id TEXT, display_name TEXT, parent_session_id TEXT REFERENCES sessions(id),
    started_at REAL NOT NULL, ended_at REAL, end_reason TEXT, message_count INTEGER DEFAULT 0, title TEXT,
    profile_name TEXT, archived INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id),
    role TEXT NOT NULL, content TEXT, tool_call_id TEXT, tool_calls TEXT, tool_name TEXT,
    effect_disposition TEXT, timestamp REAL NOT NULL, token_count INTEGER, finish_reason TEXT,
    platform_message_id TEXT, observed INTEGER DEFAULT 0, active INTEGER NOT NULL DEFAULT 1,
    compacted INTEGER NOT NULL DEFAULT 0, api_content TEXT
);
INSERT INTO schema_version VALUES (22);
"""

Exchange = tuple[str, str]
FIRST = 1_795_000_000.0
"""Unix time of the first message: November 2026."""

TOM: Sequence[Sequence[Exchange]] = (
    (
        ("The gateway listens on port 7777.", "No, the gateway listens on port 7788."),
        ("I have committed the change to main.", "Never push to main without a review."),
        ("Restarting the router now.", "Don't restart the router during work hours."),
        ("Here is the plan:\n- first\n- second", "Please answer in plain text without bullet points."),
        ("The backup starts at 02:00.", "Wrong. The backup starts at 03:00."),
        ("Shall I write the tests too?", "No, not now."),
    ),
    (
        ("I connected to port 7777 and got no answer.", "That's wrong, the gateway listens on port 7788."),
        ("Pushed to main.", "Never push to main without a review!"),
        ("I ran npm install.", "Use pnpm instead of npm."),
        ("The NAS has two disks.", "No, the NAS has four disks."),
        ("Done, all tests pass.", "Perfect, thanks!"),
        ("Here is the summary.", "I didn't ask for a summary."),
    ),
    (
        ("Trying the gateway on 7777.", "I told you already: the gateway listens on port 7788."),
        ("Installed with npm.", "Please use pnpm instead of npm here."),
        ("The deploy is finished.", "You forgot to run the linter again."),
        ("Formatted the date as 11/30/2026.", "From now on, write dates as 2026-11-30."),
        ("The backup ran at 02:00.", "Not quite: the backup starts at 03:00."),
        ("Hetzner stores the photos.", "No, the photos are stored on the NAS."),
    ),
    (
        ("Committed.", "Always run the linter before you commit."),
        ("Committed without checks.", "You must always run the linter before you commit."),
        ("Pushed.", "never push to main without a review"),
        ("The date is 30.11.2026.", "From now on write dates as 2026-11-30, please."),
        ("I restarted the router.", "Do not restart the router during work hours."),
        ("npm is done.", "Use pnpm instead of npm, as I said."),
    ),
    (
        ("Sorted by name.", "No problem, that is fine for now."),
        ("The disk is nearly full.", "What did I do wrong?"),
        ("I can draft a mail to Ann.", "Remember that Ann is on leave until June."),
        ("Ann could review it.", "Remember that Ann is on leave until June!"),
        ("The licence is GPL.", "That's not correct, the licence is MIT."),
        ("GPL code may be copied.", "You got it wrong, the licence is MIT."),
    ),
    (
        ("Asking Ann for a review.", "I already told you that Ann is on leave until June."),
        ("The photos go to Hetzner.", "Wrong, the photos are stored on the NAS."),
        ("- one\n- two", "Answer in plain text, without bullet points."),
        ("The NAS has two disks of 8 TB.", "You're wrong, the NAS has four disks."),
        ("Backup at 02:00 failed.", "No. The backup starts at 03:00."),
        ("Commit made.", "Always run the linter before committing."),
    ),
    (
        ("I used the account of Ann.", "I meant the account of the shop."),
        ("The router is restarted.", "Stop restarting the router during work hours."),
        ("GPL-3 it is.", "No, the licence is MIT."),
        ("Two disks, RAID 1.", "The NAS has four disks, not two."),
        ("Photos are at Hetzner.", "I disagree, the photos are stored on the NAS."),
        ("Dates: 11/30/2026", "You forgot to write dates as 2026-11-30."),
    ),
)

KARI: Sequence[Sequence[Exchange]] = (
    (
        ("Fakturaen er sendt til Ola.", "Nei, fakturaene skal til Siri."),
        ("Your order is shipped.", "Svar alltid på norsk."),
        ("Butikken åpner klokka ni.", "Feil. Butikken åpner klokka ti."),
        ("Prisen er 200 kroner uten mva.", "Oppgi alltid priser med mva."),
        ("Jeg sendte kunden en e-post.", "Du må aldri sende e-post til kunder uten å spørre."),
        ("Skal jeg sende den igjen?", "Nei takk."),
    ),
    (
        ("Sendte fakturaen til Ola.", "Det stemmer ikke, fakturaene skal til Siri."),
        ("The stock is low.", "Svar alltid på norsk, takk."),
        ("E-posten er sendt.", "Aldri send e-post til kunder uten å spørre."),
        ("Butikken er åpen fra ni.", "Du tar feil, butikken åpner klokka ti."),
        ("Lageret ligger i Drammen.", "Nei, lageret ligger i Moss."),
        ("Det er notert.", "Takk, perfekt."),
    ),
    (
        ("Ola har fått fakturaen.", "Husk på at fakturaene skal til Siri."),
        ("Totalt 200 kroner eks. mva.", "Oppgi alltid priser med mva!"),
        ("Pakken går fra Drammen.", "Du misforstår, lageret ligger i Moss."),
        ("Here is a draft.", "svar alltid på norsk"),
        ("Vi åpner ni i morgen.", "Det er feil, butikken åpner klokka ti."),
        ("Hilsen butikken", "Signer alltid med Hilsen Kari."),
    ),
    (
        ("Mvh", "Signer alltid med «Hilsen Kari»."),
        ("Bestillingen er slettet.", "Slett aldri en bestilling uten å spørre."),
        ("Jeg ryddet i bestillingene.", "Du må aldri slette en bestilling uten å spørre."),
        ("Hentes i Drammen.", "Lageret ligger i Moss, ikke i Drammen."),
        ("Ferdig.", "Det virker, takk!"),
        ("Hva gjør vi nå?", "Ikke noe problem, jeg ser på det."),
    ),
    (
        ("Moss eller Drammen?", "Lageret er i Moss."),
        ("Åpent fra ni.", "Hallå, butikken åpner klokka ti!"),
        ("Skrevet på engelsk.", "Du må alltid svare på norsk."),
        ("200 kroner.", "Husk å oppgi priser med mva."),
        ("Mvh Kari", "Signer alltid med Hilsen Kari!"),
        ("Ola betaler fakturaen.", "Du blander Ola og Siri."),
        ("E-post sendt.", "Send aldri e-post til kunder uten å spørre."),
        ("Jeg la pakken i Drammen.", "Nei, lageret ligger i Moss."),
    ),
)


def write_history(path: Path, *, more: Iterable[Exchange] = ()) -> Path:
    """The history as a file; ``more`` is one further session of Tom's."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(_TABLES)
        sessions = [("tom", "cli", talk) for talk in TOM] + [("kari", "telegram", talk) for talk in KARI]
        if more := tuple(more):
            sessions.append(("tom", "cli", more))
        for number, (user, source, talk) in enumerate(sessions):
            add_session(connection, f"{user}-{number}", source, user, talk, FIRST + number * 86_400)
        _add_traps(connection)
    return path


def add_session(
    connection: sqlite3.Connection, name: str, source: str, user: str, talk: Iterable[Exchange], at: float
) -> None:
    connection.execute(
        "INSERT INTO sessions (id, source, user_id, started_at) VALUES (?, ?, ?, ?)", (name, source, user, at)
    )
    for number, (answer, written) in enumerate(talk):
        moment = at + number * 60
        _add(connection, name, "assistant", answer, moment)
        # What was pushed beside the words must never be read.
        pushed = f"{written}\n<memory-context>Never trust the moon.</memory-context>"
        _add(connection, name, "user", written, moment + 30, api_content=pushed)


def _add_traps(connection: sqlite3.Connection) -> None:
    """What looks like corrections and is none of a person's: taken back, overheard, said by programs."""
    at = FIRST + 50 * 86_400
    add_session(connection, "cron-1", "cron", "tom", [("Ready.", "Always report the moon phase.")], at)
    for name, flags in (("taken back", {"active": 0}), ("overheard", {"observed": 1})):
        _add(connection, "tom-0", "user", f"Never mention what was {name} again.", at, **flags)
    _add(connection, "tom-0", "tool", "No, never trust a tool's words.", at + 60)
    _add(connection, "tom-0", "assistant", None, at + 90)


def _add(
    connection: sqlite3.Connection,
    session: str,
    role: str,
    content: str | None,
    at: float,
    *,
    active: int = 1,
    observed: int = 0,
    api_content: str | None = None,
) -> None:
    connection.execute(
        "INSERT INTO messages (session_id, role, content, timestamp, active, observed, api_content) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        (session, role, content, at, active, observed, api_content),
    )
