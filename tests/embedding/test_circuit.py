from __future__ import annotations

import threading

import pytest

from memories.contract.errors import ErrorCode, MemsuiteError
from memories.embedding.circuit import Circuit, CircuitBreaker


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> CircuitBreaker:
    return CircuitBreaker(clock=clock)


def fail(breaker: CircuitBreaker, times: int = 1) -> None:
    for _ in range(times):
        with pytest.raises(ZeroDivisionError), breaker.attempt():
            raise ZeroDivisionError


def succeed(breaker: CircuitBreaker) -> None:
    with breaker.attempt():
        pass


def refused(breaker: CircuitBreaker) -> bool:
    try:
        with breaker.attempt():
            return False
    except MemsuiteError as error:
        assert error.code is ErrorCode.EMBEDDING_FAILED
        assert error.retryable
        return True


def test_two_failures_leave_it_closed(breaker: CircuitBreaker) -> None:
    fail(breaker, 2)
    assert breaker.circuit is Circuit.CLOSED


def test_three_failures_in_a_row_open_it(breaker: CircuitBreaker) -> None:
    fail(breaker, 3)
    assert breaker.circuit is Circuit.OPEN
    assert refused(breaker)


def test_a_success_between_starts_the_count_again(breaker: CircuitBreaker) -> None:
    fail(breaker, 2)
    succeed(breaker)
    fail(breaker, 2)
    assert breaker.circuit is Circuit.CLOSED


def test_it_stays_open_for_thirty_seconds(breaker: CircuitBreaker, clock: Clock) -> None:
    fail(breaker, 3)
    clock.now += 29.9
    assert refused(breaker)
    clock.now += 0.1
    assert breaker.circuit is Circuit.HALF_OPEN


def test_a_good_trial_closes_it(breaker: CircuitBreaker, clock: Clock) -> None:
    fail(breaker, 3)
    clock.now += 30
    succeed(breaker)
    assert breaker.circuit is Circuit.CLOSED


def test_a_bad_trial_opens_it_for_another_thirty_seconds(breaker: CircuitBreaker, clock: Clock) -> None:
    fail(breaker, 3)
    clock.now += 30
    fail(breaker)
    clock.now += 29
    assert breaker.circuit is Circuit.OPEN


def test_only_one_caller_makes_the_trial(breaker: CircuitBreaker, clock: Clock) -> None:
    fail(breaker, 3)
    clock.now += 30
    with breaker.attempt():
        others: list[bool] = []
        threads = [threading.Thread(target=lambda: others.append(refused(breaker))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert others == [True] * 4
    assert not refused(breaker)


def test_a_trial_that_is_interrupted_lets_the_next_one_try(breaker: CircuitBreaker, clock: Clock) -> None:
    fail(breaker, 3)
    clock.now += 30
    with pytest.raises(KeyboardInterrupt), breaker.attempt():
        raise KeyboardInterrupt
    clock.now += 30
    assert not refused(breaker)
