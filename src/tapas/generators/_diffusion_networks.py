"""Networks that take noise off rows of mixed columns (torch).

Numbers are denoised as in Karras et al. (2022). Of a choice the network tells the log-odds that the
other columns give; what the noisy marks themselves tell is added by Bayes' rule, and the expected
marks take the place of a denoised value (Dieleman et al., 2022).
"""

import itertools

import numpy as np
import torch

from tapas.generators._deep_columns import Places
from tapas.generators._deep_networks import Networks

SPREAD = 0.5  # of scores, so that they are about as large as marks
LEAST_NOISE, MOST_NOISE, BEND = 0.02, 10.0, 7.0
LOG_NOISE_MEAN, LOG_NOISE_SPREAD = -1.2, 1.2
FREQUENCIES = 8
STEPS = 24
LEVELS, NOISES = 8, 8  # of noise that a row is looked at with


class DiffusionNetworks(Networks):
    """One perceptron for each model, told how much noise there is."""

    @staticmethod
    def shapes(places: Places, hidden: tuple[int, ...]) -> list[tuple[int, int]]:
        """Noisy row and noise in, row out."""
        widths = (places.width + 2 * FREQUENCIES, *hidden, places.width)
        return list(itertools.pairwise(widths))

    def loss(self, rows: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        """How far from the rows what is made of noisy ones lies, at noise of many sizes."""
        sizes = (*rows.shape[:2], 1)
        drawn = torch.randn(sizes, generator=generator, device=rows.device)
        noise = torch.randn(rows.shape, generator=generator, device=rows.device)
        return self._losses(rows, (LOG_NOISE_MEAN + LOG_NOISE_SPREAD * drawn).exp(), noise).mean(1)

    def draw(self, rows: int, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
        """From pure noise by Heun's method."""
        shape = (len(self.parameters[0]), rows, self.places.width)
        signal = MOST_NOISE * torch.randn(shape, generator=generator, device=self.device)
        ends = np.linspace(MOST_NOISE ** (1 / BEND), LEAST_NOISE ** (1 / BEND), STEPS)
        levels = [*(float(end) for end in ends**BEND), 0.0]
        for now, after in itertools.pairwise(levels):
            slope = (signal - self._cleaned(signal, now)[0]) / now
            moved = signal + (after - now) * slope
            if after > 0:
                slope = (slope + (moved - self._cleaned(moved, after)[0]) / after) / 2
                moved = signal + (after - now) * slope
            signal = moved
        _, shares = self._cleaned(signal, LEAST_NOISE)
        return signal[..., : self.places.numbers] / SPREAD, shares

    def factors(self, rows: torch.Tensor) -> torch.Tensor:
        """Minus the loss at several sizes of noise; always the same noise."""
        generator = torch.Generator(self.device).manual_seed(0)
        middles = (torch.arange(LEVELS, device=self.device) + 0.5) / LEVELS
        levels = (LOG_NOISE_MEAN + LOG_NOISE_SPREAD * torch.special.ndtri(middles)).exp()
        found = []
        for level in levels:
            losses = torch.zeros(rows.shape[:2], device=self.device)
            for _ in range(NOISES):
                shape = (1, 1, rows.shape[-1])
                noise = torch.randn(shape, generator=generator, device=self.device)
                losses += self._losses(rows, level.expand(*rows.shape[:2], 1), noise)
            found.append(-losses / NOISES)
        return torch.stack(found, dim=-1)

    def _losses(self, rows: torch.Tensor, level: torch.Tensor, noise: torch.Tensor) -> torch.Tensor:
        """Of each row, per column; (models, rows)."""
        numbers = self.places.numbers
        clean = torch.cat([rows[..., :numbers] * SPREAD, rows[..., numbers:]], dim=-1)
        found, shares = self._cleaned(clean + level * noise, level)
        weight = (level**2 + SPREAD**2) / (level * SPREAD) ** 2 * self.numbers_there(rows)
        off = (weight * (found - clean)[..., :numbers].square()).sum(-1)
        missed = -(shares * rows[..., numbers:]).sum(-1)
        return (off + missed) / (numbers + len(self.places.choices))

    def _cleaned(
        self, noisy: torch.Tensor, level: torch.Tensor | float
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The expected row behind a noisy one, and the log-probability of every mark."""
        numbers = self.places.numbers
        level = torch.as_tensor(level, device=noisy.device).expand(*noisy.shape[:2], 1)
        both = level**2 + SPREAD**2
        powers = 2.0 ** torch.arange(FREQUENCIES, device=noisy.device) / 2
        turns = level.log() / 4 * powers
        given = torch.cat([noisy * both.rsqrt(), turns.sin(), turns.cos()], dim=-1)
        out = self.perceptron(given, 0, len(self.parameters) // 2)
        kept = noisy[..., :numbers] * (SPREAD**2 / both)
        expected = kept + out[..., :numbers] * (level * SPREAD * both.rsqrt())
        shares = self.log_shares(out[..., numbers:] + noisy[..., numbers:] / level**2)
        return torch.cat([expected, shares.exp()], dim=-1), shares
