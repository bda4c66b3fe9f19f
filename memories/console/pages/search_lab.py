"""The search lab: one query taken apart, from its route to why each loser lost. Reads only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import path
from django.utils.http import urlencode

from memories.console.access import accepts, may
from memories.console.errors import problem_of
from memories.console.filters import LONGEST_TEXT
from memories.console.memory_list import Choices
from memories.console.navigation import Page, Section, page_url, register
from memories.console.parts import Action, Empty, Notice
from memories.console.rendering import render_page, wants_fragment
from memories.console.repository_access import repository, status_of
from memories.console.search_trial import FUSED, Trial, trial
from memories.contract import Category, ErrorCode, MemsuiteError, Tier
from memories.retrieval import SearchRequest
from memories.retrieval.request import Mode

register(Page(Section.RUN, 10, "Search lab", "console:search_lab", "lab", key="l"))

TOPS = (5, 10, 20, 50)


@dataclass(frozen=True, slots=True)
class Asked:
    """The query of the page as typed; its fields have the names of the form."""

    q: str = ""
    mode: str = str(Mode.AUTO)
    top_k: str = "10"
    category: str = ""
    tier: str = ""
    tag: str = ""
    relations: str = "1"
    all: str = ""

    @classmethod
    def of(cls, query: QueryDict) -> Asked:
        typed = {name: str(query.get(name) or "").strip() for name in cls.__dataclass_fields__}
        given = {name: text for name, text in typed.items() if text}
        if "q" in given and "relations" not in query and "options" in query:
            given["relations"] = "0"  # a box that is not ticked is not sent
        return cls(**given)

    def request(self) -> SearchRequest:
        """Raises MemsuiteError: what is wrong with an option."""
        arguments: dict[str, object] = {
            "query": self.q[:LONGEST_TEXT],
            "mode": self.mode,
            "diagnostics": True,
        }
        arguments |= {"top_k": _whole(self.top_k), "relation_depth": _whole(self.relations)}
        arguments |= {"category": self.category} if self.category else {}
        arguments |= {"tier": _whole(self.tier)} if self.tier else {}
        arguments |= {"tag": self.tag} if self.tag else {}
        return SearchRequest.from_arguments(arguments)

    def address(self, **changed: str) -> str:
        """The page so asked; what has its default is left out."""
        given = {name: getattr(self, name) for name in self.__dataclass_fields__} | changed
        plain = Asked()
        pairs = [(name, value) for name, value in given.items() if value != getattr(plain, name)]
        return f"{page_url('search_lab')}?{urlencode(pairs)}" if pairs else page_url("search_lab")


@accepts("GET")
@may("view_memory")
def search_lab(request: HttpRequest) -> HttpResponse:
    """The page, or for htmx what was found. An option that cannot be is told with its own status."""
    asked, store = Asked.of(request.GET), repository()
    if "options" in request.GET and not wants_fragment(request):
        # A form sends all of its fields along; the address that one keeps does without.
        return HttpResponseRedirect(asked.address())
    context: dict[str, Any] = {
        "title": "Search lab",
        "purpose": "What a search looks at, in which order, and why it answers with what it answers.",
        "asked": asked,
        "modes": [str(mode) for mode in Mode],
        "tops": [str(top) for top in TOPS],
        "categories": [str(name) for name in Category],
        "tiers": [str(int(tier)) for tier in Tier],
        "tags": Choices.of(store.catalogue()).tags,
    }
    status = 200
    if not asked.q:
        context["empty"] = _nothing_asked(store.count())
    else:
        try:
            found = trial(store, asked.request(), whole=asked.all == "1")
            context |= {"trial": found, "notices": _notices(found, asked), "shows": _shows(found, asked)}
        except MemsuiteError as error:
            problem, status = problem_of(error), status_of(error.code)
            by_words = Action("Search by words alone", asked.address(mode=str(Mode.LEXICAL)))
            ways = (by_words,) if error.code is ErrorCode.EMBEDDING_MODEL_MISMATCH else ()
            context["notices"] = [Notice(problem.title, problem.says, "bad", str(problem.code), actions=ways)]
    answer = render_page(
        request, "console/lab/lab.html", context, fragment="console/lab/_found.html", status=status
    )
    if wants_fragment(request):
        answer["HX-Push-Url"] = asked.address()
    return answer


def _nothing_asked(stored: int) -> Empty:
    if not stored:
        return Empty("lab", "Nothing to search yet", "Once memories are stored, a query can be tried here.")
    return Empty(
        "lab",
        "Try a query",
        "Ask as the agent would: “which port does the booking API use”. Nothing is recorded as a recall.",
    )


def _notices(found: Trial, asked: Asked) -> list[Notice]:
    answer = found.answer
    if answer.degraded_reason:
        by_words = Action("Search by words alone", asked.address(mode=str(Mode.LEXICAL)))
        code = answer.degraded_reason
        return [Notice("This search was not made", answer.message, "bad", code, actions=(by_words,))]
    if answer.abstention is not None:
        text = answer.message or answer.abstention.message
        if found.best_loser is not None:
            text += (
                f" The best of {found.distinct:,} candidates reached {found.best_loser:.2f}, "
                f"the threshold is {found.threshold:.2f}."
            )
        return [Notice("Abstained: nothing is returned", text, "", str(answer.abstention), "info")]
    if answer.calibration is not None and answer.diagnostics.get("calibrated") is False:
        return [
            Notice(
                "No calibration belongs to this embedding model",
                "The gate weighs words alone, so that a question in other words finds less.",
                "warn",
            )
        ]
    return []


def _shows(found: Trial, asked: Asked) -> dict[str, object]:
    """The head of the fused order: how many rows it has, and the way to all of them."""
    left_out = found.distinct - len(found.fused)
    return {
        "all_url": asked.address(all="1") if left_out else "",
        "fewer_url": asked.address(all="") if asked.all == "1" and found.distinct > FUSED else "",
    }


def _whole(text: str) -> object:
    """A number where it is one; anything else is for the request to refuse."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 6 else text


urlpatterns = [path("search-lab/", search_lab, name="search_lab")]
