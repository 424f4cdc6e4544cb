"""What every report can do: publish itself into a folder."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from tapas.results import file_safe

__all__ = ["OutputNames", "Report"]


class Report(ABC):
    """Something readable made from summaries of attacks."""

    @abstractmethod
    def publish(self, filepath: str | Path) -> Any:
        """Write the report into the folder `filepath` and return the files written."""


class OutputNames:
    """File names that never overwrite each other, whatever the labels in them.

    The same content asked for again gets the same name, so that publishing twice
    replaces the files; other content under that name gets a number appended.
    """

    def __init__(self) -> None:
        self._owners: dict[tuple[str, str], object] = {}

    def path(self, folder: str | Path, stem: str, suffix: str, content: object) -> Path:
        """Return the path of a file for `content` in `folder`, made if needed."""
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        safe = file_safe(stem)
        name, number = safe, 1
        # Names that differ only in case are one file on some systems.
        while self._owners.setdefault((str(place.resolve()), name.casefold()), content) != content:
            number += 1
            name = f"{safe}_{number}"
        return place / f"{name}{suffix}"
