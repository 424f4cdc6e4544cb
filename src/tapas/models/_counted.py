"""Random numbers by their place in a sequence: the same bits on every device (torch).

Generators of torch differ between devices, and numpy's must travel. These are SplitMix64 of Steele,
Lea and Flood (2014): each number is a hash of a start and of its place.
"""

from collections.abc import Sequence

import torch

_STEP = 0x9E3779B97F4A7C15 - 2**64
_FACTORS = (0xBF58476D1CE4E5B9 - 2**64, 0x94D049BB133111EB - 2**64)


def starts_of(seed: int, purpose: int, keys: Sequence[int], device: str) -> torch.Tensor:
    """Where the sequence of each key starts, (keys,); every purpose has sequences of its own."""
    start = counted_bits(torch.tensor([seed]), torch.tensor([purpose]))[0]
    return counted_bits(start, torch.tensor(keys))[0].to(device)


def counted_bits(starts: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    """64 bits for each place of each sequence, as signed numbers, (starts, places)."""
    bits = starts[:, None] + (places + 1) * _STEP
    for shift, factor in zip((30, 27), _FACTORS, strict=True):
        bits = (bits ^ _shifted(bits, shift)) * factor
    return bits ^ _shifted(bits, 31)


def counted_uniforms(starts: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    """Numbers from 0 up to 1, (starts, places)."""
    return _shifted(counted_bits(starts, places), 40).float() * 2**-24


def _shifted(bits: torch.Tensor, places: int) -> torch.Tensor:
    return (bits >> places) & (2 ** (64 - places) - 1)
