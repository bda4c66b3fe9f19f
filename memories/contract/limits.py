"""Every number of the write contract, each with its reason. Lengths are characters after normalisation."""

from __future__ import annotations

# A domain names an area ("Hermes", "Home"), not a sentence; it opens every line a model reads.
DOMAIN_MAX = 32

# Room for a qualified name ("lancedb-suite_gateway_on_nas"), short enough for a table column.
SUBJECT_MAX = 80

# A memory is one subject seen whole. More facts than a dozen are several subjects.
FACTS_MAX = 12

# About ten lines of prose: the longest single statement that still reads as one.
FACT_MAX = 1_000

# Keeps one memory within what the embedding model reads and below a tenth of a tool answer.
FACTS_TOTAL_MAX = 2_000

# A memory with more declared relations is a hub, and hubs drown the one hop of a search.
RELATIONS_MAX = 20

# A label may hold a whole "domain:subject" (113) and some words around it.
RELATION_TARGET_MAX = 160

# Ids are at most 36 characters long (a UUID); foreign systems' ids are given room.
RELATION_ID_MAX = 80

# Beyond twenty, tags no longer tell memories apart; the automatic ones count towards it.
TAGS_MAX = 20
TAG_MAX = 80

# A free label, shown in one column beside the category.
TYPE_MAX = 80

QUALITY_MIN = 0.0
QUALITY_MAX = 1.0
# Nothing is known yet about a new memory's worth: the middle.
QUALITY_DEFAULT = 0.5

# Claim keys are names; a longer run before "=" is code or noise, and the bound keeps scanning linear.
CLAIM_KEY_MAX = 80

# Revisions are stored as 64-bit signed integers.
REVISION_MAX = 2**63 - 1

# Enough of a refused value to recognise it, not enough to fill a model's context with it.
RECEIVED_MAX = 200
# A place such as "relations[19].target_id" fits many times; an unknown field's name may be anything.
FIELD_NAME_MAX = 120
