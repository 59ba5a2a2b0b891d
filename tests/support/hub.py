"""A server on this machine that speaks the Hugging Face hub's protocol, as far as loading and publishing need it."""

import base64
import hashlib
import json
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote


@dataclass
class Hub:
    """Repositories, and what was asked for."""

    address: str = ""
    repositories: dict[str, dict[str, bytes]] = field(default_factory=dict)
    requests: list[tuple[str, str]] = field(default_factory=list)
    claimed_sizes: dict[str, int | None] = field(default_factory=dict)  # of files, whatever they have; None says none

    def publish(self, name: str, folder: Path, **others: bytes) -> None:
        """Make a repository of a folder's files, and of others by name."""
        files = {path.name: path.read_bytes() for path in folder.iterdir()}
        self.repositories[name] = files | {file.replace("_", "."): content for file, content in others.items()}

    def commit(self, name: str) -> str:
        """Hash of what a repository holds now."""
        files = self.repositories[name]
        return hashlib.sha1(b"".join(file.encode() + files[file] for file in sorted(files))).hexdigest()

    def loaded(self) -> list[str]:
        """Names of the files that were loaded."""
        return [path.rpartition("/")[2] for method, path in self.requests if method == "GET" and "/resolve/" in path]


class Handler(BaseHTTPRequestHandler):
    """Answers for `Hub`, which is the server's ``hub``."""

    protocol_version = "HTTP/1.1"
    server: "Server"

    def log_message(self, *arguments):
        """Print nothing."""

    def answer(self, content: bytes = b"", status: int = 200, **headers: object) -> None:
        self.send_response(status)
        for name, value in ({"Content_Length": len(content)} | headers).items():
            if value is not None:
                self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def answer_json(self, **content: object) -> None:
        self.answer(json.dumps(content).encode(), Content_Type="application/json")

    def do_GET(self) -> None:
        hub, path = self.server.hub, unquote(self.path.partition("?")[0])
        hub.requests.append((self.command, path))
        repository, _, place = path[1:].partition("/resolve/")
        revision, _, file = place.partition("/")
        if repository not in hub.repositories:
            return self.answer(status=404, X_Error_Code="RepoNotFound")
        files, commit = hub.repositories[repository], hub.commit(repository)
        if revision not in ("main", commit):
            return self.answer(status=404, X_Error_Code="RevisionNotFound")
        if file not in files:
            return self.answer(status=404, X_Error_Code="EntryNotFound", X_Repo_Commit=commit)
        hashed = hashlib.sha256(files[file]).hexdigest()
        size = hub.claimed_sizes.get(file, len(files[file]))
        return self.answer(files[file], Content_Length=size, ETag=f'"{hashed}"', X_Repo_Commit=commit)

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_POST(self) -> None:
        hub = self.server.hub
        hub.requests.append(("POST", self.path))
        lines = self.rfile.read(int(self.headers["Content-Length"])).splitlines()
        if self.headers.get("Authorization") != "Bearer hf_writer":
            return self.answer(status=401)
        if self.path == "/api/repos/create":
            asked = json.loads(lines[0])
            name = f"{asked['organization']}/{asked['name']}" if "organization" in asked else asked["name"]
            hub.repositories.setdefault(name, {})
            return self.answer_json(url=f"{hub.address}/{name}", name=name)
        if self.path == "/api/validate-yaml":
            return self.answer_json(errors=[], warnings=[])
        owner, name, verb = self.path.removeprefix("/api/models/").split("/")[:3]
        repository = hub.repositories[f"{owner}/{name}"]
        if verb == "preupload":
            asked = json.loads(lines[0])["files"]
            files = [{"path": file["path"], "uploadMode": "regular", "shouldIgnore": False} for file in asked]
            return self.answer_json(files=files)
        for line in map(json.loads, lines):
            if line["key"] == "file":
                repository[line["value"]["path"]] = base64.b64decode(line["value"]["content"])
        commit = hub.commit(f"{owner}/{name}")
        url = f"{hub.address}/{owner}/{name}/commit/{commit}"
        return self.answer_json(success=True, commitUrl=url, commitOid=commit)


class Server(ThreadingHTTPServer):
    """Serves a hub on a free port."""

    def __init__(self, hub: Hub) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.hub = hub
        hub.address = f"http://127.0.0.1:{self.server_port}"
