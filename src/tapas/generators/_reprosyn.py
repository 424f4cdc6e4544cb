"""Generators written as reprosyn-style classes."""

from tapas.datasets import Dataset, RandomSource, TabularDataset
from tapas.errors import NotTrainedError
from tapas.generators._base import Generator


class ReprosynGenerator(Generator):
    """Builds a class anew for each run and wraps what it outputs.

    Parameters
    ----------
    reprosyn_class : type
        Called with ``dataset`` (a data frame), ``metadata`` (the schema), ``size`` and `kwargs`;
        ``run()`` must leave a data frame in ``output``.
    label : str, optional
        Display name; the class by default.
    **kwargs
        Further arguments of the class.
    """

    def __init__(self, reprosyn_class: type, label: str | None = None, **kwargs: object) -> None:
        super().__init__()
        self.reprosyn_class = reprosyn_class
        self.kwargs = kwargs
        self._label = label or str(reprosyn_class)
        self.dataset: TabularDataset | None = None

    def fit(self, dataset: Dataset, **kwargs: object) -> None:
        """Keep the dataset that the class will be given."""
        self.dataset = dataset  # type: ignore[assignment]
        self.trained = True

    def generate(self, num_samples: int, random_state: RandomSource = None) -> TabularDataset:
        """Build the class, run it, and wrap its output."""
        if self.dataset is None:
            raise NotTrainedError(f"no dataset was given to {self._label}: call fit first")
        method = self.reprosyn_class(
            dataset=self.dataset.table.to_frame(),
            metadata=self.dataset.description.schema,
            size=num_samples,
            **self.kwargs,
        )
        method.run()
        return TabularDataset(method.output, self.dataset.description)

    @property
    def label(self) -> str:
        """Display name."""
        return self._label
