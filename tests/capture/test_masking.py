"""No secret of a sure kind passes either pass. The secrets are made up and put together at run time."""

from __future__ import annotations

import random
import string
from collections.abc import Callable

import pytest

from memories.capture.masking import mask, mask_quickly

_random = random.Random(7)
Pass = Callable[[str], tuple[str, int]]
BOTH = pytest.mark.parametrize("masked", [mask, mask_quickly])


def some(length: int, alphabet: str = string.ascii_letters + string.digits) -> str:
    return "".join(_random.choice(alphabet) for _ in range(length))


def pem(lines: int = 25, end: bool = True) -> tuple[str, list[str]]:
    body = [some(64) for _ in range(lines)] + [some(22) + "=="]
    text = "\n".join(["-----BEGIN " + "RSA PRIVATE KEY-----", *body])
    return text + ("\n-----END " + "RSA PRIVATE KEY-----" if end else ""), body


@BOTH
def test_a_token_in_a_long_message_is_masked(masked: Pass) -> None:
    token = "ghp_" + some(36)
    text, number = masked("words and more words. " * 100 + f"the token is {token}, keep it. " + "end " * 50)
    assert token not in text
    assert "[GitHub token removed]" in text
    assert number == 1
    assert text.endswith("keep it. " + "end " * 50)


@BOTH
def test_a_password_in_an_address_is_masked(masked: Pass) -> None:
    password = some(14)
    text, number = masked(f"psql postgres://admin:{password}@db.internal:5432/app")
    assert (password in text, number) == (False, 1)


@BOTH
@pytest.mark.parametrize("end", [True, False])
def test_no_line_of_a_private_key_is_left(masked: Pass, end: bool) -> None:
    key, body = pem(end=end)
    text, number = masked(f"Here it is:\n{key}\nand that was it.")
    assert number == 1
    assert not [line for line in body[:-1] if line in text]
    assert text.startswith("Here it is:")
    assert text.endswith("and that was it.")


@BOTH
def test_ordinary_text_is_left_as_it_is(masked: Pass) -> None:
    text = "See https://example.org/a/long/path/to/some/page.html and 0123456789abcdef0123456789abcdef."
    assert masked(text) == (text, 0)


def test_two_tokens_far_apart_are_both_masked_quickly() -> None:
    first, second = "ghp_" + some(36), "ghp_" + some(36)
    text, number = mask_quickly(f"{first} {'filler ' * 200} {second}")
    assert number == 2
    assert first not in text
    assert second not in text
