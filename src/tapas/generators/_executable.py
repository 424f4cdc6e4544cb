"""Generators that are programs: CSV in, CSV out."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tapas._spec import attributes_of, digest_of
from tapas._validate import check_count
from tapas.datasets import Dataset, RandomSource, TabularDataset
from tapas.engine import end_family
from tapas.errors import MechanismError, NotTrainedError, SchemaError
from tapas.generators._base import Generator
from tapas.generators._foreign import as_seed

LAST_CHARACTERS_OF_STDERR = 2_000


class GeneratorFromExecutable(Generator):
    """Runs ``exe NUM_SAMPLES`` with the private records on standard input.

    The program reads CSV and writes CSV with the same columns, with or without a header. The
    environment variable ``TAPAS_SEED`` holds a different number for each run.

    Parameters
    ----------
    exe : str
        Program on the PATH, or a path.
    label : str, optional
        Display name; `exe` by default.
    header : bool
        Whether the program is sent a header line.
    timeout : float, optional
        Seconds after which a run counts as failed.
    """

    def __init__(
        self,
        exe: str,
        label: str | None = None,
        *,
        header: bool = False,
        timeout: float | None = None,
    ) -> None:
        super().__init__()
        self.exe = _find_program(exe)
        self.header = header
        self.timeout = timeout
        self._label = label or str(exe)
        self.dataset: TabularDataset | None = None

    def fit(self, dataset: Dataset, **kwargs: object) -> None:
        """Keep the dataset that the program will be sent."""
        if not isinstance(dataset, TabularDataset):
            raise MechanismError(
                f"{self._label} reads tables: expected a TabularDataset, "
                f"got {type(dataset).__name__}"
            )
        self.dataset = dataset
        self.trained = True

    def generate(self, num_samples: int, random_state: RandomSource = None) -> TabularDataset:
        """Run the program and read what it prints."""
        if self.dataset is None:
            raise NotTrainedError(f"no dataset was given to {self._label}: call fit first")
        wanted = check_count(num_samples, "num_samples")
        output = self._run(wanted, self.dataset, as_seed(random_state))
        try:
            release = TabularDataset.read_from_string(output, self.dataset.description)
        except SchemaError as error:
            raise MechanismError(
                f"{self._label} printed a table that does not fit the schema: {error}"
            ) from error
        if len(release) != wanted:
            raise MechanismError(
                f"{self._label} was asked for {wanted} records and printed {len(release)}"
            )
        return release

    def _run(self, num_samples: int, dataset: TabularDataset, seed: int | None) -> str:
        environment = dict(os.environ)
        if seed is not None:
            environment["TAPAS_SEED"] = str(seed)
        try:
            process = subprocess.Popen(
                [self.exe, str(num_samples)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                env=environment,
                process_group=0 if os.name == "posix" else None,
            )
            output, errors = self._spoken_with(process, dataset.write_to_string(header=self.header))
        except subprocess.TimeoutExpired as error:
            raise MechanismError(
                f"{self._label} did not finish within {self.timeout} seconds"
            ) from error
        except UnicodeDecodeError as error:
            raise MechanismError(f"{self._label} printed what is not UTF-8: {error}") from error
        except OSError as error:
            raise MechanismError(f"{self._label} could not be started: {error}") from error
        if process.returncode != 0:
            words = errors.strip()[-LAST_CHARACTERS_OF_STDERR:] or "(nothing on stderr)"
            raise MechanismError(
                f"{self._label} ended with exit status {process.returncode}: {words}"
            )
        return output

    def _spoken_with(self, process: "subprocess.Popen[str]", words: str) -> tuple[str, str]:
        """What it prints; where anything cuts it short, it ends with all that it started."""
        with process:
            try:
                return process.communicate(words, self.timeout)
            except BaseException:
                end_family(process.pid)
                raise

    @property
    def label(self) -> str:
        """Display name."""
        return self._label

    def __spec__(self) -> Mapping[str, object]:
        """An edited program is another one. What it reads or calls in turn is not known here."""
        return {**attributes_of(self), "program": content_of(self.exe)}


def content_of(program: str) -> str | None:
    """Digest of a program's file; None where there is none."""
    found = shutil.which(program)
    return None if found is None else digest_of(Path(found).read_bytes())


def _find_program(exe: str) -> str:
    found = shutil.which(exe)
    if found is None and Path(exe).is_file():
        found = str(Path(exe).resolve())
        if not os.access(found, os.X_OK):
            raise MechanismError(f"{exe!r} is a file but may not be executed: chmod +x it")
    if found is None:
        raise MechanismError(f"there is no program {exe!r} on the PATH or at that path")
    return found
