"""A Dask cluster of real processes."""

import os
import socket
import subprocess
import sys
from pathlib import Path


class Cluster:
    """A scheduler and workers, each a process of its own."""

    def __init__(self, folder: Path, *, tls: tuple[str, ...] = ()) -> None:
        self.folder, self._tls = folder, tls
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"{'tls' if tls else 'tcp'}://127.0.0.1:{port}"
        where = ("--host", "127.0.0.1", "--port", str(port))
        protocol = ("--protocol", "tls") if tls else ()
        self.processes = [self._start("dask_scheduler", *where, *protocol)]

    def add_worker(self, threads: int = 1, resources: str = "") -> "subprocess.Popen[bytes]":
        options = ("--nthreads", str(threads), "--no-nanny", "--memory-limit", "0")
        has = ("--resources", resources) if resources else ()
        self.processes.append(self._start("dask_worker", self.address, *options, *has))
        return self.processes[-1]

    def _start(self, what: str, *arguments: str) -> "subprocess.Popen[bytes]":
        environment = {k: v for k, v in os.environ.items() if k != "MALLOC_TRIM_THRESHOLD_"}
        return subprocess.Popen(
            [
                *(sys.executable, "-m", f"distributed.cli.{what}"),
                *(*arguments, *self._tls, "--no-dashboard"),
            ],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def wait_for_workers(self, number: int) -> None:
        from distributed import Client

        with Client(self.address, timeout=60, set_as_default=False) as client:
            client.wait_for_workers(number, timeout=60)

    def close(self) -> None:
        for process in reversed(self.processes):
            process.kill()
            process.wait()
