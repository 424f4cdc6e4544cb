"""The command `tapas`. Commands load what they need when they are called."""

from tapas.cli._main import main

__all__ = ["main"]
