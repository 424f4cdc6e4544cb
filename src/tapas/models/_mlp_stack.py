"""A stack of perceptrons that takes its training steps together.

Parameters of all models lie in one buffer and every layer is one batched matrix product. Signals
stand upright, (models, units, records): with few classes that is many times faster on a CPU. The
gradient is written out by hand: nothing is allocated during a step, which keeps small models out
of the allocator on a CPU and lets one step be captured as a CUDA graph.
"""

import numpy as np
import torch

from tapas.engine import AdamW, repeat_step
from tapas.models._counted import counted_uniforms, starts_of
from tapas.models._mlp import Layers
from tapas.models._mlp_plan import Beginning, Recipe
from tapas.models._visits import WEIGHTS, visits_of


def train_stack(
    beginning: Beginning, recipe: Recipe
) -> tuple[list[Layers], np.ndarray, np.ndarray]:
    """Train one perceptron for each mask; layers, shift and scale of the inputs of each."""
    threads = torch.get_num_threads()
    if recipe.device == "cpu":
        torch.set_num_threads(1)
    try:
        with torch.no_grad():
            stack = _Stack(beginning, recipe)
            stack.run()
            shift, scale = (moment.cpu().numpy() for moment in (stack.shift, stack.scale))
            return stack.layers(), shift, scale
    finally:
        torch.set_num_threads(threads)


class _Stack:
    """Parameters, gradients and working space of models in lockstep."""

    def __init__(self, beginning: Beginning, recipe: Recipe) -> None:
        self.recipe = recipe
        self.models = len(beginning.masks)
        self._load_data(beginning)
        self._load_parameters(beginning)
        self._make_room(beginning.schedule.shape[1])

    def _load_data(self, given: Beginning) -> None:
        self.pool = self._tensor(given.pool)
        self.truth = self._tensor(np.eye(self.recipe.widths[-1], dtype=np.float32)[given.codes])
        self._load_moments(self._tensor(given.masks).float(), self._tensor(given.scaled))
        visits = visits_of(given.masks, given.schedule, given.seed, given.keys, self.recipe.device)
        self.orders, self.present, self.schedule = visits.orders, visits.present, visits.schedule

    def _load_moments(self, members: torch.Tensor, scaled: torch.Tensor) -> None:
        """Mean and standard deviation of each model's own records, (models, d) each."""
        counts = members.sum(dim=1, keepdim=True).double()
        mean = (members @ self.pool).double() / counts
        spread = ((members @ self.pool.square()).double() / counts - mean**2).clamp(min=0.0).sqrt()
        constant = spread < 1e-4  # what float32 leaves of a column with one value
        self.shift = torch.where(scaled, mean, 0.0)
        self.scale = torch.where(scaled & ~constant, spread, 1.0)
        self.factor = (1.0 / self.scale).float()[:, None, :]
        self.offset = (-self.shift / self.scale).float()[:, None, :]

    def _load_parameters(self, given: Beginning) -> None:
        """Uniform weights whose spread shrinks with the number of inputs."""
        starts = starts_of(given.seed, WEIGHTS, given.keys, self.recipe.device)
        parts, at = [], 0
        for inputs, outputs in self.recipe.shapes:
            for size in (inputs * outputs, outputs):
                places = torch.arange(at, at + size, device=self.recipe.device)
                drawn = counted_uniforms(starts, places).mul_(2).sub_(1)
                parts.append(drawn.mul_(float(np.float32(1.0 / np.sqrt(inputs)))).reshape(-1))
                at += size
        self.parameters = torch.cat(parts)
        self.gradient = torch.zeros_like(self.parameters)
        self.weights, self.biases = self._blocks(self.parameters)
        self.weight_gradients, self.bias_gradients = self._blocks(self.gradient)
        self.adam = AdamW([self.parameters], self.recipe.learning_rate, self.recipe.weight_decay)
        self._rule_out_unseen_classes()

    def _rule_out_unseen_classes(self) -> None:
        """A class that is not among a model's records starts, and stays, impossible."""
        classes = self.truth.argmax(dim=1)[self.orders]
        seen = torch.zeros(self.models, self.truth.shape[1], device=self.recipe.device)
        seen.scatter_add_(1, classes, self.present)
        self.biases[-1][:, :, 0].masked_fill_(seen == 0, -torch.inf)

    def _blocks(self, flat: torch.Tensor) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
        """Views of the flat buffer: weights (models, out, in) and biases (models, out, 1)."""
        weights, biases, at = [], [], 0
        for inputs, outputs in self.recipe.shapes:
            middle = at + self.models * inputs * outputs
            end = middle + self.models * outputs
            weights.append(flat[at:middle].view(self.models, outputs, inputs))
            biases.append(flat[middle:end].view(self.models, outputs, 1))
            at = end
        return weights, biases

    def _make_room(self, batch: int) -> None:
        def room(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
            return torch.empty((self.models, *shape), dtype=dtype, device=self.recipe.device)

        inputs, *outputs = self.recipe.widths
        self.rows = room(batch, dtype=torch.int64)
        self.share = room(batch)
        self.inputs = room(batch, inputs)
        self.expected = room(batch, outputs[-1])
        self.signals = [self.inputs.transpose(1, 2), *(room(width, batch) for width in outputs)]
        self.errors = [room(width, batch) for width in outputs]

    def _tensor(self, values: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(np.ascontiguousarray(values)).to(self.recipe.device)

    def run(self) -> None:
        """Take all steps; the number of the next one lies on the device."""
        number = torch.zeros(1, dtype=torch.int64, device=self.recipe.device)

        def step() -> None:
            self._step(self.schedule.index_select(0, number).view(-1))
            number.add_(1)

        repeat_step(step, len(self.schedule), [*self.adam.state, number])

    def _step(self, places: torch.Tensor) -> None:
        self._gather(places)
        self._forward()
        self._backward()
        self.adam.step([self.gradient])

    def _gather(self, places: torch.Tensor) -> None:
        """Each model's next records, standardised its own way, and their shares of the loss."""
        torch.index_select(self.orders, 1, places, out=self.rows)
        torch.index_select(self.present, 1, places, out=self.share)
        self.share.div_(self.share.sum(dim=1, keepdim=True).clamp_(min=1.0))
        flat = self.rows.view(-1)
        torch.index_select(self.pool, 0, flat, out=self.inputs.view(len(flat), -1))
        torch.addcmul(self.offset, self.inputs, self.factor, out=self.inputs)
        torch.index_select(self.truth, 0, flat, out=self.expected.view(len(flat), -1))

    def _forward(self) -> None:
        last = len(self.weights) - 1
        for depth, (weights, biases) in enumerate(zip(self.weights, self.biases, strict=True)):
            signal = self.signals[depth + 1]
            torch.baddbmm(biases, weights, self.signals[depth], out=signal)
            if depth < last:
                signal.relu_()

    def _backward(self) -> None:
        """Gradient of the mean cross-entropy, from the last layer to the first."""
        torch.softmax(self.signals[-1], dim=1, out=self.errors[-1])
        self.errors[-1].sub_(self.expected.transpose(1, 2)).mul_(self.share.unsqueeze(1))
        for depth in reversed(range(len(self.weights))):
            error, signal = self.errors[depth], self.signals[depth]
            torch.bmm(error, signal.transpose(1, 2), out=self.weight_gradients[depth])
            torch.sum(error, dim=2, keepdim=True, out=self.bias_gradients[depth])
            if depth > 0:
                torch.bmm(self.weights[depth].transpose(1, 2), error, out=self.errors[depth - 1])
                below = self.errors[depth - 1]
                torch.ops.aten.threshold_backward.grad_input(below, signal, 0, grad_input=below)

    def layers(self) -> list[Layers]:
        """Return the layers of each model as arrays of its own."""
        weights = [block.transpose(1, 2).contiguous().cpu().numpy() for block in self.weights]
        biases = [block[:, :, 0].cpu().numpy() for block in self.biases]
        return [
            tuple((w[i].copy(), b[i].copy()) for w, b in zip(weights, biases, strict=True))
            for i in range(self.models)
        ]
