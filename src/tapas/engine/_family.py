"""End a process and everything that it started."""

import os
import signal
from contextlib import suppress
from pathlib import Path


def end_family(leader: int) -> None:
    """Kill a process, those that descend from it, and those of its session and group."""
    for process in _members(leader):
        with suppress(OSError):
            os.kill(process, signal.SIGKILL)
    with suppress(OSError):
        if os.getpgid(leader) == leader:
            os.killpg(leader, signal.SIGKILL)
    with suppress(OSError):
        os.kill(leader, signal.SIGKILL)


def _members(leader: int) -> list[int]:
    """Descendants and members of the session, where the system lists its processes."""
    known = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            # The name, in brackets, may hold anything; state, parent, group, session follow it.
            fields = entry.read_text(errors="replace").rpartition(")")[2].split()
            known[int(entry.parent.name)] = (int(fields[1]), int(fields[3]))
    found = {leader}
    while True:
        new = {
            process
            for process, (parent, session) in known.items()
            if process not in found and (parent in found or session == leader)
        }
        if not new:
            return sorted(found - {leader})
        found |= new
