"""Time limits on code that is not ours."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tapas.engine import TimeLimitError, guarded, off_the_clock


def here(work: Callable[[], None]) -> None:
    work()


def in_a_thread(work: Callable[[], None]) -> None:
    with ThreadPoolExecutor(1) as threads:
        threads.submit(work).result()


def wait(seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.01)


@pytest.mark.parametrize("where", [here, in_a_thread])
def test_a_limit_outlives_the_limits_within_it(where: Callable[..., None]) -> None:
    def work() -> None:
        with guarded(0.1):
            with guarded(60):
                pass
            wait(60)

    with pytest.raises(TimeLimitError, match=r"within 0\.1 seconds"):
        where(work)


@pytest.mark.parametrize("where", [here, in_a_thread])
def test_what_is_waited_for_is_not_counted(where: Callable[..., None]) -> None:
    def work() -> None:
        with guarded(0.5):
            with off_the_clock():
                wait(0.6)
            with guarded(60):
                wait(0.6)
            with pytest.raises(TimeLimitError, match=r"within 0\.05"), guarded(0.05):
                wait(60)

    where(work)
