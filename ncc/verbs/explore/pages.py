"""The explorer's page with its data: as a folder of files, or served to this machine until Ctrl-C."""

import os
import re
import sys
import threading
import time
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast

from ncc.errors import InputError, OutputError
from ncc.system.files.pages import explorer_page, pack
from ncc.system.files.summaries import Summary
from ncc.system.files.text import format_bytes, pluralize
from ncc.system.files.writing import check_folder, folder_lock, write_output
from ncc.verbs.explore.facts import Explorer

_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_SCRIPT = "text/javascript; charset=utf-8"


def check_new(folder: Path) -> None:
    """Raise `OutputError` unless the folder is empty or can be made; nothing in it is replaced."""
    check_folder(folder)
    if folder.exists() and any(folder.iterdir()):
        raise OutputError(f"{folder}: is not empty; pass a new folder")


def _script(name: str, value: object) -> bytes:
    return f'receive("{name}", "{pack(value)}")\n'.encode()


def export(explorer: Explorer, folder: Path, progress: Callable[[str], None] | None) -> Summary:
    """Write the page, its table and a file for each function, the page last."""
    num_functions, size = len(explorer.index), 0
    with folder_lock(folder, wait_s=0):
        try:
            (folder / "functions").mkdir()
            for row in range(num_functions):
                data = _script(f"functions/{row}", explorer.function(row))
                size += (folder / "functions" / f"{row}.js").write_bytes(data)
                if progress:
                    progress(f"{row + 1:,} of {num_functions:,} functions")
            table = explorer.table()
            size += (folder / "table.js").write_bytes(_script("table", table))
            for name in table["later"]:
                size += (folder / f"{name}.js").write_bytes(_script(name, explorer.compared()))
        except OSError as error:
            raise OutputError(f"{folder}: can't be written: {error.strerror or error}") from error
        page = explorer_page(table["title"], {}).encode("utf-8", "backslashreplace")
        write_output(folder / "index.html", page)
    return Summary(
        verdict=pluralize(num_functions, "function"),
        interval=format_bytes(size + len(page), 1000),
        subject=str(folder / "index.html"),
    )


class _Handler(BaseHTTPRequestHandler):
    """Answers for the page and its data, under a random name that only the user's browser gets."""

    protocol_version = "HTTP/1.1"
    timeout = 60

    def do_GET(self) -> None:
        """Send the page, the table or a function."""
        server = cast(_Server, self.server)
        kind, content = server.content(self.path) if self.headers.get("Host") in server.hosts else ("", b"")
        self.send_response(200 if content else 404)
        for name, value in {**_HEADERS, "Content-Type": kind, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing on standard error."""


class _Server(ThreadingHTTPServer):
    """Holds the page and its table; a function is read when it is looked at, one at a time."""

    daemon_threads = True

    def __init__(self, explorer: Explorer, port: int) -> None:
        table = explorer.table()
        pages = {
            "": ("text/html; charset=utf-8", explorer_page(table["title"], {}).encode("utf-8", "backslashreplace")),
            "table.js": (_SCRIPT, _script("table", table)),
        }
        super().__init__(("127.0.0.1", port), _Handler)
        self.explorer, self.lock, self.comparing = explorer, threading.Lock(), threading.Lock()
        self.hosts = [f"{name}:{self.server_address[1]}" for name in ("127.0.0.1", "localhost")]
        self.path = f"/{os.urandom(24).hex()}/"
        self.pages = {self.path + name: page for name, page in pages.items()}

    def content(self, path: str) -> tuple[str, bytes]:
        """Return the type and content of a path; no content for one that there isn't."""
        if path == f"{self.path}compared.js":
            with self.comparing:  # for a minute, in which functions are still answered
                if path not in self.pages:
                    self.pages[path] = _SCRIPT, _script("compared", self.explorer.compared())
        match = re.fullmatch(re.escape(self.path) + r"functions/(\d{1,9})\.js", path, re.A)
        if not match or int(match[1]) >= len(self.explorer.index):
            return self.pages.get(path, ("", b""))
        with self.lock:
            return _SCRIPT, _script(f"functions/{int(match[1])}", self.explorer.function(int(match[1])))

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Leave alone a browser that went away."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


def serve(explorer: Explorer, port: int, until: ExitStack, *, opens: bool) -> Iterator[Summary]:
    """Yield the address of the page, and serve it until Ctrl-C."""
    with until:
        try:
            server = until.enter_context(_Server(explorer, port))
        except OSError as error:
            raise InputError(f"port {port} can't be used: {error.strerror}; pass another --port, or none") from error
        address = f"http://{server.hosts[0]}{server.path}"
        yield Summary(verdict=pluralize(len(explorer.index), "function"), interval="Ctrl-C ends it", subject=address)
        # on a thread of its own: Ctrl-C must not arrive between accepting a connection and handling it
        thread = threading.Thread(target=server.serve_forever, args=(0.2,), daemon=True)
        with suppress(KeyboardInterrupt):
            thread.start()
            if opens:
                webbrowser.open(address)
            while thread.is_alive():
                time.sleep(1)
        if thread.is_alive():
            server.shutdown()
