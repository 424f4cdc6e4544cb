"""Problems that do not hang together, told at once."""

from collections.abc import Iterator
from contextlib import contextmanager

from tapas.errors import ConfigError, TapasError


class Problems:
    """What is wrong so far."""

    def __init__(self) -> None:
        self._found: list[TapasError] = []

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Go on after an error in this part, to find those of the other parts too."""
        try:
            yield
        except TapasError as error:
            self._found.append(error)

    def refuse(self) -> None:
        """Raise what was noted: one error as it is, several as one that names them all."""
        found, self._found = self._found, []
        if len(found) == 1:
            raise found[0]
        if found:
            raise ConfigError(*dict.fromkeys(str(error) for error in found))
