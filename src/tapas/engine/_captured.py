"""Take one step of numerical work many times: on a GPU it is captured once and replayed."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tapas.errors import ConfigError

if TYPE_CHECKING:
    import torch

__all__ = ["repeat_step", "torch_device"]

STEPS_BEFORE_CAPTURE = 3


def torch_device(device: str, who: str, instead: str) -> str:
    """Check that torch and the device are there; "auto" is the GPU where there is one."""
    try:
        import torch
    except ImportError:
        raise ConfigError(
            f"{who} needs torch, which is not installed: pip install 'tapas-privacy[torch]', or "
            f"{instead}"
        ) from None
    found = torch.cuda.is_available()
    if device == "auto":
        return "cuda" if found else "cpu"
    if device.split(":")[0] not in ("cpu", "cuda") or (device != "cpu" and not found):
        raise ConfigError(
            f"device must be 'auto', 'cpu' or, where there is a GPU, 'cuda', got {device!r}"
        )
    return device


def repeat_step(
    step: Callable[[], None],
    times: int,
    state: "Sequence[torch.Tensor]",
    generator: "torch.Generator | None" = None,
) -> None:
    """Take the step so many times.

    Parameters
    ----------
    step : callable
        Changes `state` in place, and reads nothing that changes elsewhere.
    times : int
    state : sequence of Tensor
        All on one device: all that a step changes and a later one reads.
    generator : torch.Generator, optional
        What the step draws from; it starts from its own seed.
    """
    if state[0].device.type == "cpu":
        for _ in range(times):
            step()
        return
    import torch

    with torch.cuda.device(state[0].device):
        start = [part.clone() for part in state]
        _warm_up(step)
        graph = torch.cuda.CUDAGraph()
        if generator is not None:
            graph.register_generator_state(generator)
        with torch.cuda.graph(graph):
            step()
        for part, before in zip(state, start, strict=True):
            part.copy_(before)
        if generator is not None:
            generator.manual_seed(generator.initial_seed())
        for _ in range(times):
            graph.replay()
        torch.cuda.synchronize()


def _warm_up(step: Callable[[], None]) -> None:
    """Let libraries allocate what they keep, outside the capture."""
    import torch

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(STEPS_BEFORE_CAPTURE):
            step()
    torch.cuda.current_stream().wait_stream(side)
