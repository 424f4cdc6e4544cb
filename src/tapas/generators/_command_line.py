"""Generators run through the reprosyn command line."""

import json
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tapas._spec import attributes_of
from tapas.datasets import Dataset, RandomSource, TabularDataset
from tapas.errors import MechanismError, NotTrainedError
from tapas.generators._base import Generator
from tapas.generators._executable import content_of


class ReprosynGeneratorFromCLI(Generator):
    """Runs ``exe --file DATA.csv --out OUT.csv --size N METHOD`` in a temporary folder.

    Parameters
    ----------
    exe : str
        The reprosyn command.
    method : str
        Name of the sub-command.
    config : dict
        Further options of the method, written as ``--key value``.
    verbose : bool
        Kept for compatibility; the program's messages appear only when it fails.
    label : str, optional
    """

    def __init__(
        self,
        exe: str = "rsyn",
        method: str = "mst",
        config: dict[str, Any] | None = None,
        verbose: bool = True,
        label: str | None = None,
    ) -> None:
        super().__init__()
        self.exe, self.method, self.verbose = exe, method, verbose
        self.config = dict(config or {})
        self._label = label or f"{exe} {method}"
        self.dataset: TabularDataset | None = None

    def fit(self, dataset: Dataset, **kwargs: object) -> None:
        """Keep the dataset that the program will be sent."""
        self.dataset = dataset  # type: ignore[assignment]
        self.trained = True

    def generate(self, num_samples: int, random_state: RandomSource = None) -> TabularDataset:
        """Run the program and read what it wrote."""
        if self.dataset is None:
            raise NotTrainedError(f"no dataset was given to {self._label}: call fit first")
        with tempfile.TemporaryDirectory() as folder:
            source, target = Path(folder, "data"), Path(folder, "out.csv")
            self.dataset.write(source)
            command = [self.exe, "--file", f"{source}.csv", "--metadata", f"{source}.json",
                       "--out", str(target), "--size", str(num_samples), self.method]  # fmt: skip
            for key, value in self.config.items():
                command += [f"--{key}", value if isinstance(value, str) else json.dumps(value)]
            try:
                done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
            except OSError as error:
                raise MechanismError(f"{self._label} could not be started: {error}") from error
            if done.returncode != 0 or not target.exists():
                raise MechanismError(
                    f"{self._label} ended with exit status {done.returncode}: "
                    f"{done.stderr.strip()[-2000:]}"
                )
            return TabularDataset.read_from_string(target.read_text(), self.dataset.description)

    @property
    def label(self) -> str:
        """Display name."""
        return self._label

    def __spec__(self) -> Mapping[str, object]:
        """An edited program is another one."""
        return {**attributes_of(self), "program": content_of(self.exe)}
