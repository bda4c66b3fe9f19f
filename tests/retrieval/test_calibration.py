from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from memories.embedding.base import Embedder
from memories.retrieval.calibration import (
    WORDS_ONLY,
    calibration_for,
    centred_cosines,
    file_name,
    read,
    running_engine,
    words_only,
    write,
)

STATIC = "static/wordllama-l2-supercat@256#mean-l2-v1"


def test_both_models_that_travel_with_the_project_are_calibrated(
    real_embedder: Embedder, fast_embedder: Embedder
) -> None:
    for embedder in (real_embedder, fast_embedder):
        calibration = calibration_for(str(embedder.identity))
        assert calibration.calibrated
        assert calibration.centre is not None
        assert calibration.centre.shape == (embedder.identity.dimension,)
        assert calibration.engine == running_engine()


def test_an_unknown_model_is_judged_by_words_alone() -> None:
    calibration = calibration_for("ollama/strange-model@64#plain-v1")
    assert not calibration.calibrated
    assert calibration.gate == words_only().gate
    assert "centred" not in calibration.gate.weights
    rows = np.eye(3, 64, dtype=np.float32)
    assert not calibration.centred(rows[0], rows).any()


@pytest.mark.parametrize("identity", [WORDS_ONLY, "static/wordllama-l2-supercat@256#mean-l2-v1"])
def test_a_data_file_says_where_it_comes_from_and_survives_a_round_trip(identity: str) -> None:
    calibration = calibration_for(identity)
    text = write(calibration, {"why": "test"})
    again = read(text)
    assert write(again, {"why": "test"}) == text
    assert all(json.loads(text)[name] for name in ("date", "command", "corpus", "engine"))
    assert len(calibration.corpus) == 64


def test_an_own_file_goes_before_the_shipped_one_until_it_is_gone(tmp_path: Path) -> None:
    shipped = calibration_for(STATIC)
    assert calibration_for(STATIC, tmp_path).as_answer()["origin"] == "shipped"
    path = tmp_path / file_name(STATIC)
    path.write_text(write(replace(shipped, date="2001-01-01"), {}), encoding="utf-8")
    own = calibration_for(STATIC, tmp_path)
    assert (own.date, own.as_answer()["origin"], own.as_answer()["file"]) == ("2001-01-01", "own", path.name)
    path.unlink()
    assert calibration_for(STATIC, tmp_path).date == shipped.date


@pytest.mark.parametrize("text", ["", "{}", "[1]", "nothing"])
def test_an_own_file_that_cannot_be_read_is_as_good_as_none(tmp_path: Path, text: str) -> None:
    (tmp_path / file_name(STATIC)).write_text(text, encoding="utf-8")
    assert calibration_for(STATIC, tmp_path) == calibration_for(STATIC)


def test_an_own_file_of_another_model_is_not_used(tmp_path: Path) -> None:
    text = write(replace(calibration_for(STATIC), identity="other/model@3#x"), {})
    (tmp_path / file_name(STATIC)).write_text(text, encoding="utf-8")
    assert calibration_for(STATIC, tmp_path).identity == STATIC


def test_evidence_never_has_a_negative_weight() -> None:
    for identity in (WORDS_ONLY, "builtin/all-MiniLM-L6-v2-int8@384#mean-l2-256-v1"):
        assert min(calibration_for(identity).gate.weights.values()) > 0


def test_centring_takes_away_what_all_texts_share() -> None:
    centre = np.array([1, 0, 0], dtype=np.float32)
    query, rows = np.array([1, 1, 0], dtype=np.float32), np.array([[1, 0, 1], [1, 2, 0]], dtype=np.float32)
    assert centred_cosines(query, rows, centre).tolist() == pytest.approx([0, 1])
