"""Earlier import path of `create_canary`."""

from tapas.datasets._canary import create_canary

__all__ = ["create_canary"]
