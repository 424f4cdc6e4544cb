"""The command group, its exit codes, and how errors are told."""

import gc
import importlib
import os
import shlex
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import click

from tapas import __version__
from tapas.cli._streams import forgive
from tapas.cli._supervise import supervised
from tapas.errors import ConfigError, TapasError

FINE, GATE_FAILED, INTERRUPTED, INTERNAL, USAGE, NOTHING_RAN, INCONCLUSIVE = range(7)

_COMMANDS = {
    "demo": "Audit a built-in table and show what a report looks like.",
    "init": "Write a commented audit file for your table.",
    "check": "Find out whether an audit can run, and how long it takes.",
    "run": "Run an audit, or go on with one; ends in report.html.",
    "release": "Audit a released table from files alone, without an audit file.",
    "predictions": "Audit a model by a table of its predictions alone.",
    "judge": "Decide whether a model was trained on given records.",
    "report": "Write the report of a run again.",
    "verify": "See whether a run folder is as it was written.",
    "repair": "Keep what is whole of a damaged run folder.",
    "compare": "Compare runs: what got better or worse.",
    "view": "Show all runs below a folder in a browser.",
    "list": "Attacks, generators and knowledge, one line each.",
    "plan": "How many trials it takes to see a violation.",
    "schema": "JSON schema of audit files, for editors.",
}
_KEEPS_TRIALS = ("demo", "run", "release", "predictions")
_RUNS_CODE = (*_KEEPS_TRIALS, "check", "judge", "plan")
_EXIT_CODES = """\b
Exit codes: 0 fine, 1 a gate failed, 2 interrupted, 3 internal error,
4 usage or configuration error, 5 nothing ran, 6 a gate is inconclusive."""


class _LazyGroup(click.Group):
    """Knows the names and first lines of its commands without loading them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        return importlib.import_module(f"tapas.cli._{cmd_name}").command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(
    cls=_LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=_EXIT_CODES,
)
@click.version_option(__version__, prog_name="tapas")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def group(debug: bool) -> None:
    """Adversarial privacy auditing: attack a release the way an adversary would."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit code."""
    gc.set_threshold(100_000, 20, 100)  # loaded packages and tables are no garbage
    given = list(sys.argv[1:] if arguments is None else arguments)
    forgive()
    command = next((word for word in given if not word.startswith("-")), "")
    replays = command == "verify" and any(word.startswith("--replay") for word in given)
    if (replays or command in _RUNS_CODE) and hasattr(os, "fork"):
        code = supervised(
            lambda: run(given),
            goes_on=command in _KEEPS_TRIALS,
            interrupted=_how_to_go_on([word for word in given if word != "--debug"]),
        )
    else:
        code = run(given)
    sys.stdout.flush()
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code; an error is one line on stderr."""
    debug = "--debug" in arguments
    with warnings.catch_warnings():
        _say_warnings_in_one_line()
        # The option may stand anywhere, as people add it to the end of a failed command.
        rest = [argument for argument in arguments if argument != "--debug"]
        try:
            if any("\0" in argument for argument in rest):
                raise click.UsageError("an argument holds a zero byte")
            result = group.main(rest or ["--help"], prog_name="tapas", standalone_mode=False)
            return result if isinstance(result, int) else FINE
        except BaseException as error:
            if debug and not isinstance(error, (SystemExit, click.exceptions.Exit)):
                raise
            code, words = _outcome(error)
            if code == INTERRUPTED:
                words = _how_to_go_on(rest)
    if words:
        click.echo(words, err=True)
    return code


def _outcome(error: BaseException) -> tuple[int, str]:
    """Exit code and message of an error."""
    if isinstance(error, click.ClickException):
        context = getattr(error, "ctx", None)
        hint = f" (see {context.command_path} --help)" if context is not None else ""
        return USAGE, _line(f"{error.format_message().rstrip('.')}{hint}")
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code, ""
    if isinstance(error, (click.Abort, KeyboardInterrupt)):
        return INTERRUPTED, ""
    if isinstance(error, ConfigError):
        return USAGE, "\n".join(_line(problem) for problem in error.problems)
    if isinstance(error, TapasError):
        return USAGE, _line(str(error))
    if isinstance(error, OSError) and error.strerror:
        name = f"{error.filename}: " if error.filename is not None else ""
        return USAGE, _line(f"{name}{error.strerror}")
    if isinstance(error, SystemExit):
        return NOTHING_RAN, _line(f"code of the audit called sys.exit({error.code!r})")
    words = _line(f"{type(error).__name__}: {error}")
    return INTERNAL, f"{words} (internal error: run again with --debug to see where)"


def _how_to_go_on(arguments: Sequence[str]) -> str:
    """What an interruption leaves, and what to do."""
    if not any(command in arguments for command in _KEEPS_TRIALS):
        return "Interrupted."
    return (
        f"Interrupted. Trials that were finished, if any, are kept in the run folder, and are not "
        f"played again. To go on, type: tapas {shlex.join(arguments)}"
    )


def _line(words: str) -> str:
    shown = " ".join(words.split())
    return "Error: " + "".join(mark if mark.isprintable() else "\ufffd" for mark in shown)


def _say_warnings_in_one_line() -> None:
    from tapas.errors import TapasWarning

    said: set[str] = set()

    def say(message: Any, category: type[Warning], *rest: Any, **more: Any) -> None:
        words = " ".join(str(message).split())
        if issubclass(category, TapasWarning) and words not in said:
            said.add(words)
            click.echo(f"Note: {words}", err=True)

    warnings.simplefilter("default")
    warnings.showwarning = say
