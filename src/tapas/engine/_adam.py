"""Steps of AdamW in place, which can be captured on a GPU."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

__all__ = ["AdamW"]


class AdamW:
    """AdamW by its kernel: `torch.optim` would import a compiler first.

    Parameters
    ----------
    leaves : sequence of Tensor
        What is changed: contiguous, all on one device.
    learning_rate, weight_decay : float
    """

    def __init__(
        self, leaves: "Sequence[torch.Tensor]", learning_rate: float, weight_decay: float = 0.0
    ) -> None:
        import torch

        self.leaves, self.learning_rate, self.weight_decay = leaves, learning_rate, weight_decay
        self._mean = [torch.zeros_like(leaf) for leaf in leaves]
        self._square = [torch.zeros_like(leaf) for leaf in leaves]
        self._steps = [torch.zeros((), device=leaf.device) for leaf in leaves]

    @property
    def state(self) -> "list[torch.Tensor]":
        """All that a step changes."""
        return [*self.leaves, *self._mean, *self._square, *self._steps]

    def step(self, gradients: "Sequence[torch.Tensor]") -> None:
        """Go down the gradients."""
        import torch

        for count in self._steps:
            count.add_(1)
        torch._fused_adamw_(
            list(self.leaves),
            [gradient.contiguous() for gradient in gradients],  # the kernel reads memory in order
            self._mean,
            self._square,
            [],
            self._steps,
            amsgrad=False,
            lr=self.learning_rate,
            beta1=0.9,
            beta2=0.999,
            weight_decay=self.weight_decay,
            eps=1e-8,
            maximize=False,
        )
