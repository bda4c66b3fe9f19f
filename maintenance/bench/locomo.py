"""The LoCoMo conversations as a benchmark reads them: turns, questions, and questions with nothing to find.

The data is CC BY-NC 4.0 and no part of the product: the archive is named on the command line.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memories.contract import ErrorCode, MemsuiteError

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open", 4: "single-hop", 5: "no answer"}
UNANSWERABLE = 5

FOREIGN_PER_CONVERSATION = 80
"""Questions of the other conversations that each one is asked, its people's names put in."""

_TURN_ID = re.compile(r"D(\d+):0*(\d+)")
_SESSION = re.compile(r"session_(\d+)")
_DATE = "%I:%M %p on %d %B, %Y"


@dataclass(frozen=True, slots=True)
class Turn:
    """``id`` is ``D<session>:<number>``; ``text`` holds the caption of a picture too, in brackets;
    ``position`` counts from 0 within the session; ``at`` is when the session was, in UTC."""

    id: str
    session: int
    position: int
    speaker: str
    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class TurnQuestion:
    """``evidence``: ids of the turns that answer it, none where nothing does. ``category`` as CATEGORIES,
    0 for a question of another conversation."""

    text: str
    category: int
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Conversation:
    name: str
    speakers: tuple[str, str]
    turns: tuple[Turn, ...]
    questions: tuple[TurnQuestion, ...]

    @property
    def answerable(self) -> list[TurnQuestion]:
        """Questions of the categories 1 to 4 whose evidence is among the turns."""
        return [one for one in self.questions if one.category != UNANSWERABLE and one.evidence]


def load_conversations(archive: Path) -> list[Conversation]:
    """The conversations of a LoCoMo archive, by name.

    Raises ``invalid_parameter`` for a file that is no such archive.
    """
    try:
        with zipfile.ZipFile(archive) as opened:
            names = sorted(name for name in opened.namelist() if name.endswith(".json"))
            found = [_conversation(Path(name).stem, json.loads(opened.read(name))) for name in names]
    except (OSError, zipfile.BadZipFile, ValueError, KeyError) as error:
        raise _unusable(archive, str(error)) from error
    if len(found) < 2:
        raise _unusable(archive, "it holds fewer than two conversations")
    return found


def foreign_questions(conversation: Conversation, others: Sequence[Conversation]) -> list[TurnQuestion]:
    """Answerable questions of ``others``, evenly picked, asked as if of this one: nothing to find."""
    asked = [
        replace(one, text=_renamed(one.text, other.speakers, conversation.speakers), category=0, evidence=())
        for other in others
        if other.name != conversation.name
        for one in other.answerable
    ]
    step = max(1, len(asked) // FOREIGN_PER_CONVERSATION)
    return asked[::step][:FOREIGN_PER_CONVERSATION]


def _conversation(name: str, raw: Mapping[str, Any]) -> Conversation:
    turns = tuple(_turns(raw))
    known = {turn.id for turn in turns}
    return Conversation(
        name=name,
        speakers=(raw["speaker_a"], raw["speaker_b"]),
        turns=turns,
        questions=tuple(
            TurnQuestion(one["question"], one["category"], _evidence(one, known)) for one in raw["qa"]
        ),
    )


def _turns(raw: Mapping[str, Any]) -> Iterator[Turn]:
    numbers = sorted(int(match[1]) for key in raw if (match := _SESSION.fullmatch(key)))
    for number in numbers:
        at = datetime.strptime(raw[f"session_{number}_date_time"], _DATE).replace(tzinfo=UTC)
        for position, said in enumerate(raw[f"session_{number}"]):
            caption = f" [{said['blip_caption']}]" if said.get("blip_caption") else ""
            yield Turn(said["dia_id"], number, position, said["speaker"], said["text"] + caption, at)


def _evidence(one: Mapping[str, Any], known: set[str]) -> tuple[str, ...]:
    if one["category"] == UNANSWERABLE:
        return ()
    named = (f"D{match[1]}:{match[2]}" for match in _TURN_ID.finditer(" ".join(one["evidence"])))
    return tuple(dict.fromkeys(name for name in named if name in known))


def _renamed(text: str, theirs: tuple[str, str], ours: tuple[str, str]) -> str:
    # Both at once, so that a name put in is not replaced again.
    by_name = dict(zip(theirs, ours, strict=True))
    pattern = "|".join(rf"\b{re.escape(name)}\b" for name in theirs)
    return re.sub(pattern, lambda match: by_name[match[0]], text)


def _unusable(archive: Path, why: str) -> MemsuiteError:
    return MemsuiteError(
        ErrorCode.INVALID_PARAMETER,
        "locomo",
        f"{archive.name} is no archive of LoCoMo conversations: {why}",
        received=archive.name,
    )
