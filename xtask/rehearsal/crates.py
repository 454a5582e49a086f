"""Serves the packages and the index in a folder as a registry of crates.

The arguments are the folder and the port. Requests for other crates are redirected to crates.io.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

FOLDER = Path(sys.argv[1]).resolve()


class Handler(BaseHTTPRequestHandler):
    """Implements cargo's protocol for sparse registries."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Responds with a file, or with the address of the file at crates.io."""
        path = self.path.lstrip("/")
        if path == "index/config.json":
            address = f"http://127.0.0.1:{self.server.server_port}"
            download = f"{address}/crates/{{crate}}/{{crate}}-{{version}}.crate"
            self.respond(200, json.dumps({"dl": download}).encode())
        elif path.startswith("index/"):
            self.file_or(FOLDER / path, f"https://index.crates.io/{path[6:]}")
        else:
            self.file_or(FOLDER / Path(path).name, f"https://static.crates.io/{path}")

    def file_or(self, file: Path, elsewhere: str) -> None:
        """Responds with a file, or redirects the request."""
        if file.is_file():
            self.respond(200, file.read_bytes())
        else:
            self.respond(302, b"", ("Location", elsewhere))

    def respond(self, status: int, body: bytes, *headers: tuple[str, str]) -> None:
        """Writes a complete response."""
        self.send_response(status)
        for name, value in (*headers, ("Content-Length", str(len(body)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments: object) -> None:
        """Logs nothing, because cargo reports every failed request."""


if __name__ == "__main__":
    with ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Handler) as server:
        server.serve_forever()
