"""Text that addresses a model rather than tells a fact: flagged for a person, never changed or refused.

A memory may well say what is to be done ("run the linter before a commit"). What makes a text suspicious is
that it speaks about the reader's own instructions, tools or secrecy, poses as another speaker, or hides.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memories.screening.fence import neutralise


@dataclass(frozen=True, slots=True)
class InstructionFinding:
    """`reason` says in a few words what is suspicious; `start` and `end` where in the text it stands."""

    reason: str
    start: int
    end: int


def find_instructions(text: str) -> tuple[InstructionFinding, ...]:
    """What in a text reads like an order to a model, in order of appearance; of each kind the first."""
    return tuple(sorted(_findings(text), key=lambda finding: (finding.start, finding.end)))


_EARLIER = r"(?:previous|prior|earlier|above|preceding|foregoing|existing|former|original|initial|system|safety)"
_RULES = r"(?:instructions?|rules?|prompts?|guidelines?|directions?|directives?|messages?|constraints?|policies|polic(?:y|ies)|context|training)"
_OVERRIDE_NB = r"(?:tidligere|foregående|forrige|alle|ovenstående|opprinnelige)"
_PERSON = r"(?:the |your |any )?(?:users?|humans?|owner|operator)"
_PRIVATE = r"(?:contents?|conversations?|credentials?|data|everything|files?|history|keys?|memor(?:y|ies)|messages?|notes?|passwords?|prompts?|secrets?|tokens?)"

_KINDS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (reason, re.compile(pattern, re.IGNORECASE))
    for reason, pattern in (
        (
            "sets earlier instructions aside",
            rf"\b(?:ignore|disregard|forget|override|bypass|drop|overlook|do not (?:follow|obey)|don't (?:follow|obey)|pay no attention to)\b"
            rf"(?:\s\w+){{0,3}}?\s(?:{_EARLIER}\s(?:\w+\s)?{_RULES}|(?:all|any|every|your|the|these|those)\s(?:\w+\s)?{_RULES}|everything (?:above|before|you))"
            rf"|\b(?:ignorer|glem|se bort fra|overstyr|ikke følg)\b(?:\s\w+){{0,2}}?\s{_OVERRIDE_NB}\s(?:\w+\s)?(?:instruksjon\w*|regl\w*|beskjed\w*|melding\w*|instruks\w*)"
            r"|\b(?:ignore[zr]?|oublie[zr]?)\b(?:\s\w+){0,3}?\s(?:instructions|consignes|règles)\s(?:précédentes|ci-dessus)"
            r"|\b(?:ignoriere?|vergiss|missachte)\b(?:\s\w+){0,3}?\s(?:vorherigen|bisherigen|obigen)\s(?:Anweisungen|Regeln)"
            r"|\b(?:ignora|olvida)\b(?:\s\w+){0,3}?\s(?:instrucciones|reglas)\s(?:anteriores|previas)",
        ),
        (
            "gives the reader another role",
            r"\byou are (?:now|no longer|from now on)\b|\bfrom now on,? you (?:are|will (?:act|be|behave|respond))\b|\b(?:act|behave|respond|pretend) as (?:if you (?:were|are)|though you|an? (?:unrestricted|uncensored|different|new|jailbroken))"
            r"|\bpretend (?:to be|that you)\b|\b(?:enable|enter|activate|switch to|you are in) (?:developer|debug|god|dan|admin|root|jailbreak|unrestricted) mode\b|\bdu er (?:nå|ikke lenger) en?\b|\blat som (?:om )?du\b",
        ),
        (
            "asks for secrecy",
            rf"\b(?:do not|don't|never|without)\s(?:ever\s)?(?:tell(?:ing)?|inform(?:ing)?|mention(?:ing)?|reveal(?:ing)?|notify(?:ing)?|ask(?:ing)?|alert(?:ing)?|show(?:ing)?)\s(?:\w+\s){{0,4}}?{_PERSON}\b"
            rf"|\bkeep (?:this|it) (?:secret|hidden|from {_PERSON})\b|\bsecretly\b|\bwithout (?:the user's|their|his|her) (?:knowledge|consent|approval)\b|\bikke (?:si|fortell|nevn|vis|avslør)\b(?:\s\w+){{0,3}}?\s(?:til\s)?brukeren\b|\b(?:i hemmelighet|uten at brukeren)\b",
        ),
        (
            "asks for the reader's own instructions",
            r"\b(?:reveal|print|repeat|show|output|display|leak|send|dump|recite|expose)\b(?:\s\w+){0,4}?\s(?:system prompt|your (?:\w+\s)?(?:instructions|prompt|rules|configuration)|hidden (?:prompt|instructions)|initial prompt|context window)"
            r"|\b(?:vis|skriv ut|gjenta|avslør)\b(?:\s\w+){0,3}?\s(?:systemprompten|systeminstruksen|instruksjonene dine)",
        ),
        (
            "orders a tool or command to be run on reading",
            r"\b(?:when(?:ever)?|if|once|after|as soon as) you (?:read|see|recall|retrieve|load|find|receive)\s(?:this|these|the above|the following)\b"
            r"|\b(?:immediately|now|first|always|silently|automatically)\s(?:call|invoke|execute|run|use)\s(?:the\s)?(?:\w+\s)?(?:tool|function|command|lancedb_\w+|shell|terminal|bash)\b"
            r"|\b(?:call|invoke|execute)\s(?:the\s)?(?:`?\w+`?\s)?(?:tool|function)\b\s(?:\w+\s){0,3}?(?:with|and|to)\b|\blancedb_(?:add|update|delete)\b|\bnår du leser (?:dette|denne)\b",
        ),
        (
            "sends data elsewhere",
            rf"\b(?:send|post|upload|forward|exfiltrate|transmit|submit|leak|email|copy)\b(?:\s[\w'/.~-]+){{0,5}}?\s{_PRIVATE}\b(?:\s[\w'/.~-]+){{0,5}}?\s(?:to|at|via)\s(?:https?://|ftp://|www\.|[\w.+-]+@[\w-]+\.)"
            r"|\b(?:curl|wget)\b[^\n|]{0,200}\|\s{0,3}(?:ba|z|da)?sh\b|!\[[^\]\n]{0,80}\]\(https?://[^)\s]{1,200}[?&=][^)\s]{0,200}\)",
        ),
        (
            "claims authority over the reader",
            r"\b(?:this is|here is) (?:a |an |the )?(?:(?:new|important|urgent|critical|real|official|updated) )?(?:system|developer|admin(?:istrator)?|root|openai|anthropic) (?:message|instruction|prompt|override|notice|command|update)s?\b"
            r"|\b(?:new|updated|additional|urgent|important) (?:system )?instructions?\s?(?:follow|for (?:the )?(?:ai|assistant|model|agent|llm)|:)|\battention,? (?:all )?(?:ais?|assistants?|llms?|models?|agents?|bots?)\b|\b(?:note|message|instructions?|notice) (?:to|for) (?:the |all |any |every )?(?:ai|ais|assistants?|llms?|(?:language )?models?|agents?|bots?)\b"
            r"|\b(?:as an ai|dear (?:ai|assistant|model)|hey (?:ai|assistant))\b|\b(?:beskjed|instruks|melding) til (?:ki|ai|assistenten|modellen|agenten)\b",
        ),
        (
            "poses as another speaker",
            r"(?:^|[\n\r]|\\n|[.!?]\s{1,3})\s{0,3}(?:#{1,3}\s?)?(?:system|assistant|developer|human|user)\s?(?:prompt|message)?:\s(?:\S+\s){2,}\S",
        ),
    )
)

# Any invisible character at all is odd inside words; these carry hidden text or turn the reading order.
_HIDDEN = re.compile("[\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
# Text that looks like base64 and is long enough for a sentence.
_ENCODED = re.compile(r"(?:decode|base64|atob|rot13)\b[^\n]{0,60}?\s[A-Za-z0-9+/]{24,}={0,2}", re.IGNORECASE)


def _findings(text: str) -> Iterator[InstructionFinding]:
    # Read as the model would: without what is invisible. Places are those of that reading where they differ.
    visible = _HIDDEN.sub("", text)
    for reason, pattern in _KINDS:
        if match := pattern.search(visible):
            yield InstructionFinding(reason, match.start(), match.end())
    if (tag := _first_tag(text)) >= 0:
        yield InstructionFinding("holds the tags of a chat template or tool call", tag, tag + 1)
    if match := _HIDDEN.search(text):
        yield InstructionFinding("holds invisible characters", match.start(), match.end())
    if match := _ENCODED.search(visible):
        yield InstructionFinding("holds encoded text to be decoded", match.start(), match.end())


def _first_tag(text: str) -> int:
    """Where the fence had to defuse something; -1 where nothing."""
    if "‹" in text:
        return -1
    return neutralise(text).find("‹")
