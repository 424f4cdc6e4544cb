"""Dask clusters: connect, see that the workers are fit for the work."""

import logging
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click

from tapas import __version__
from tapas.errors import ConfigError

SECONDS_TO_CONNECT = 10
_HERE = ("tcp://127.", "tcp://localhost", "tcp://[::1]")
LARGE_TRIM_THRESHOLD = 2**24  # bytes


def as_resources(words: Iterable[str]) -> dict[str, float]:
    """What workers must have, from words such as GPU=1."""
    found = {}
    for word in words:
        name, _, number = word.partition("=")
        if not name or not number.isdigit() or not int(number):
            raise ConfigError(f"resources are written NAME=NUMBER, such as GPU=1; got {word!r}")
        found[name] = float(number)
    return found


@contextmanager
def connected(address: str, needs: Mapping[str, float]) -> Iterator[Any]:
    """The executor of a cluster; with `needs`, of its workers that have these resources."""
    try:
        from distributed import Client
    except ImportError as error:
        raise ConfigError('a cluster needs Dask: pip install "tapas-privacy[dask]"') from error
    if address.startswith("tcp://") and not address.startswith(_HERE):
        click.echo(
            "Note: tcp:// carries private data in the clear and lets whoever reaches the scheduler "
            "run code: use tls:// on networks that are not yours alone (docs/trust.md)",
            err=True,
        )
    try:
        client = Client(address, timeout=SECONDS_TO_CONNECT, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise ConfigError(f"no Dask scheduler answers at {address}: {error}") from error
    except TypeError as error:
        raise ConfigError(
            f"{address} cannot be reached: {error}. For tls:// name the certificates, as "
            f"docs/trust.md shows"
        ) from error
    with _told_by_us():
        try:
            _survey(client, address, needs)
            yield client.get_executor(**({"resources": dict(needs)} if needs else {}))
        finally:
            client.close()


@contextmanager
def _told_by_us() -> Iterator[None]:
    """Keep what Dask's client logs off the terminal: what it fails at is raised as well."""
    log = logging.getLogger("distributed.client")
    log.addFilter(_nothing)
    try:
        yield
    finally:
        log.removeFilter(_nothing)


def _nothing(record: logging.LogRecord) -> bool:
    return False


def fitness(dask_worker: Any) -> dict[str, Any]:
    """Runs on a worker, which Dask passes under this name: what matters about it."""
    threshold = os.environ.get("MALLOC_TRIM_THRESHOLD_", "")
    return {
        "version": __version__,
        "resources": dict(dask_worker.state.total_resources),
        "trims": threshold.isdigit() and int(threshold) < LARGE_TRIM_THRESHOLD,
    }


def _survey(client: Any, address: str, needs: Mapping[str, float]) -> None:
    threads = client.nthreads()
    if not threads:
        raise ConfigError(f"the cluster at {address} has no workers: start some (dask worker)")
    if max(threads.values()) > 1:
        click.echo(
            "Note: workers with several threads play one trial at a time, because threads share "
            "random state; start more workers with --nthreads 1 instead",
            err=True,
        )
    try:
        found = client.run(fitness)
    except Exception as error:
        raise ConfigError(
            f"tapas cannot be used on the workers of {address}: {type(error).__name__}: {error}"
        ) from error
    for worker, facts in sorted(found.items()):
        if facts["version"] != __version__:
            raise ConfigError(
                f"worker {worker} has tapas {facts['version']}, this is {__version__}: results "
                f"could differ; install the same version"
            )
    if any(facts["trims"] for facts in found.values()):
        click.echo(
            "Note: workers have a small MALLOC_TRIM_THRESHOLD_ (Dask's nanny sets it), which can "
            "slow numerical work more than twofold; start them with --no-nanny, or with "
            "MALLOC_TRIM_THRESHOLD_=134217728 in their environment",
            err=True,
        )
    if not any(_has(facts["resources"], needs) for facts in found.values()):
        words = " ".join(f"{name}={number:g}" for name, number in needs.items())
        raise ConfigError(
            f"no worker of {address} has {words}: start those that do with "
            f'dask worker ... --resources "{words}"'
        )


def _has(resources: Mapping[str, float], needs: Mapping[str, float]) -> bool:
    return all(resources.get(name, 0) >= number for name, number in needs.items())
