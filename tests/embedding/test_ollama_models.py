from __future__ import annotations

import pytest

from memories.embedding.ollama_models import ollama_model


@pytest.mark.parametrize(
    "name", ["nomic-embed-text", "nomic-embed-text:latest", "nomic-embed-text:v1.5", "me/nomic-embed-text"]
)
def test_nomic_has_task_prefixes(name: str) -> None:
    model = ollama_model(name)
    assert (model.query_prefix, model.document_prefix) == ("search_query: ", "search_document: ")


def test_the_pipeline_differs_with_the_prefixes() -> None:
    assert ollama_model("nomic-embed-text").pipeline != ollama_model("bge-m3").pipeline


def test_the_tag_latest_is_no_other_model() -> None:
    assert ollama_model("nomic-embed-text:latest") == ollama_model("nomic-embed-text")


def test_another_tag_is_another_model() -> None:
    assert ollama_model("nomic-embed-text:v1.5").name == "nomic-embed-text:v1.5"


def test_a_model_with_a_short_context_gets_shorter_texts() -> None:
    assert ollama_model("all-minilm").max_chars == 768
    assert ollama_model("never-heard-of").max_chars == 6144
