"""Networks that squeeze rows of mixed columns through a few normal variables (torch)."""

import itertools

import torch

from tapas.generators._deep_columns import Places
from tapas.generators._deep_networks import Networks

LATENT = 16
LEAST_LOG_VARIANCE, MOST_LOG_VARIANCE = -8.0, 2.0


class VariationalNetworks(Networks):
    """An encoder and a decoder for each model."""

    @staticmethod
    def shapes(places: Places, hidden: tuple[int, ...]) -> list[tuple[int, int]]:
        """Row to latent mean and log-variance; latent to row and log-variance of its numbers."""
        inner = (places.width, *hidden, 2 * LATENT)
        outer = (LATENT, *hidden[::-1], places.width + places.numbers)
        pairs = [itertools.pairwise(widths) for widths in (inner, outer)]
        return [shape for pair in pairs for shape in pair]

    @property
    def _middle(self) -> int:
        return len(self.parameters) // 4

    def loss(self, rows: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        """Minus the evidence bound."""
        mean, log_variance = self._encoded(rows)
        noise = torch.randn(mean.shape, generator=generator, device=rows.device)
        known = self._known(rows, mean + noise * (log_variance / 2).exp()).sum(-1)
        return (_divergence(mean, log_variance) - known).mean(1)

    def draw(self, rows: int, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
        """Decode normal draws."""
        shape = (len(self.parameters[0]), rows, LATENT)
        latent = torch.randn(shape, generator=generator, device=self.device)
        numbers, log_variance, shares = self._decoded(latent)
        noise = torch.randn(numbers.shape, generator=generator, device=self.device)
        return numbers + noise * (log_variance / 2).exp(), shares

    def factors(self, rows: torch.Tensor) -> torch.Tensor:
        """Log-likelihood of each column, and minus the divergence, at the latent mean."""
        mean, log_variance = self._encoded(rows)
        divergence = _divergence(mean, log_variance)[..., None]
        return torch.cat([self._known(rows, mean), -divergence], dim=-1)

    def _encoded(self, rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        found = self.perceptron(rows, 0, self._middle)
        mean, log_variance = found.chunk(2, dim=-1)
        return mean, log_variance.clamp(LEAST_LOG_VARIANCE, MOST_LOG_VARIANCE)

    def _decoded(self, latent: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Means and log-variances of numbers, and log-probabilities of marks."""
        numbers = self.places.numbers
        out = self.perceptron(latent, self._middle, 2 * self._middle)
        log_variance = out[..., :numbers].clamp(LEAST_LOG_VARIANCE, MOST_LOG_VARIANCE)
        shares = self.log_shares(out[..., 2 * numbers :])
        return out[..., numbers : 2 * numbers], log_variance, shares

    def _known(self, rows: torch.Tensor, latent: torch.Tensor) -> torch.Tensor:
        """Log-likelihood of each number and each choice, (models, rows, columns)."""
        numbers = self.places.numbers
        mean, log_variance, shares = self._decoded(latent)
        off = (rows[..., :numbers] - mean).square() / log_variance.exp() + log_variance
        chosen = (shares * rows[..., numbers:]).split(self.places.choices, dim=-1)
        marks = [part.sum(-1, keepdim=True) for part in chosen]
        return torch.cat([-off / 2 * self.numbers_there(rows), *marks], dim=-1)


def _divergence(mean: torch.Tensor, log_variance: torch.Tensor) -> torch.Tensor:
    """From the standard normal distribution, of each row."""
    return (mean.square() + log_variance.exp() - 1 - log_variance).sum(-1) / 2
