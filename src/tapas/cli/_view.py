"""tapas view"""

from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, unquote, urlsplit

import click

if TYPE_CHECKING:
    from tapas.results import AuditRecord, RunState

TYPES = {".html": "text/html; charset=utf-8", ".csv": "text/csv; charset=utf-8"}


@click.command("view")
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--port", type=click.IntRange(0, 65535), default=8765, show_default=True)
def command(folder: Path, port: int) -> None:
    """Show all runs below FOLDER in a browser: verdicts, what is running, limits over time.

    The page is served on this machine only, changes nothing, and ends with Ctrl-C.
    """
    try:
        server = serve(folder, port)
    except OSError as error:
        raise click.UsageError(f"port {port} cannot be used: {error.strerror}") from None
    click.echo(f"http://127.0.0.1:{server.server_port}/ shows the runs below {folder}; Ctrl-C ends")
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        click.echo("Ended")
    finally:
        server.server_close()


def serve(folder: Path, port: int) -> ThreadingHTTPServer:
    """A server of the runs below a folder, reachable from this machine only."""

    class Handler(_RunsHandler):
        root = folder

    return ThreadingHTTPServer(("127.0.0.1", port), Handler)


def _page_of(folder: Path, run: "RunState", query: dict[str, str]) -> str | None:
    from tapas.report import record_page, run_page, target_page

    record = _loaded(folder, (folder / "record.json").stat().st_mtime_ns)
    subject = query.get("subject", "")
    if "target" in query:
        return target_page(record, run.name, subject, query["target"])
    if "record" in query:
        number = query["record"]
        return record_page(record, run.name, subject, int(number)) if number.isdecimal() else None
    last = run.verdicts[-1]
    return run_page(record, run.name, f"{last.get('state')}: {last.get('words')}")


@lru_cache(maxsize=2)
def _loaded(folder: Path, changed: int) -> "AuditRecord":
    """The record of a run, read again once it has changed."""
    from tapas.results import AuditRecord

    return AuditRecord.load(folder)


class _RunsHandler(BaseHTTPRequestHandler):
    """Answers questions about runs; whatever else is asked for is not there."""

    root: Path
    server_version = "tapas"
    sys_version = ""

    def do_GET(self) -> None:
        """Send the list of runs, or a file of one of them."""
        # A name that points here is not enough: other sites could let theirs point here too.
        port = self.connection.getsockname()[1]
        if self.headers.get("Host") not in (f"127.0.0.1:{port}", f"localhost:{port}"):
            self._send(403, "text/plain", b"ask for 127.0.0.1")
            return
        asked = urlsplit(self.path)
        path, query = asked.path, dict(parse_qsl(asked.query))
        if path == "/":
            from tapas.report import runs_page
            from tapas.results import find_runs

            self._send(200, TYPES[".html"], runs_page(find_runs(self.root)).encode())
            return
        if path.endswith("/"):
            self._send_page(path, query)
            return
        self._send_file(path)

    def _send_page(self, path: str, query: dict[str, str]) -> None:
        """Send the page of a run, or of a target or record of it."""
        from tapas.errors import StoreError
        from tapas.results import find_runs

        known = {f"/{quote(run.name)}/": run for run in find_runs(self.root) if run.verdicts}
        page = None
        if path in known:
            try:
                page = _page_of(self.root / known[path].name, known[path], query)
            except StoreError as error:
                self._send(200, "text/plain; charset=utf-8", str(error).encode())
                return
        if page is None:
            self._send(404, "text/plain; charset=utf-8", b"that is not here")
            return
        self._send(200, TYPES[".html"], page.encode())

    def _send_file(self, path: str) -> None:
        from tapas.results import PAGE_FILES, find_runs

        for run in find_runs(self.root):
            for name in PAGE_FILES:
                file = self.root / run.name / name
                if path == f"/{quote(run.name)}/{name}" and file.is_file():
                    self._send(200, TYPES[file.suffix], file.read_bytes())
                    return
        self._send(404, "text/plain; charset=utf-8", f"{unquote(path)} is not here".encode())

    def _send(self, status: int, kind: str, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing for each request."""
