"""tapas list"""

import importlib
import shutil
from typing import Any

import click

_KNOWLEDGE = {
    "data: auxiliary": "AuxiliaryDataKnowledge",
    "data: exact": "ExactDataKnowledge",
    "data: identifiers": "QuasiIdentifierKnowledge",
    "mechanism: black-box": "BlackBoxKnowledge",
    "mechanism: no-box": "NoBoxKnowledge",
    "mechanism: white-box": "WhiteBoxKnowledge",
}


@click.command("list")
@click.argument(
    "what",
    type=click.Choice(["attacks", "generators", "knowledge"]),
    required=False,
)
def command(what: str | None) -> None:
    """Show what an audit file can name: attacks, generators and knowledge, one line each."""
    from tapas.audit import usable_names

    for room in ("attacks", "generators"):
        if what in (None, room):
            module = importlib.import_module(f"tapas.{room}")
            _section(room, {name: getattr(module, name) for name in usable_names((room,))})
    if what in (None, "knowledge"):
        module = importlib.import_module("tapas.threat_models")
        _section("knowledge", {key: getattr(module, name) for key, name in _KNOWLEDGE.items()})


def _section(title: str, things: dict[str, Any]) -> None:
    from tapas.cli._words import first_line

    width = max((len(name) for name in things), default=0)
    room = max(40, shutil.get_terminal_size((100, 20)).columns - width - 4)
    click.echo(f"{title}:")
    for name, thing in things.items():
        words = first_line(thing)
        short = words if len(words) <= room else words[: room - 3] + "..."
        click.echo(f"  {name.ljust(width)}  {short}")
