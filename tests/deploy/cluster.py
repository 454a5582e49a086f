"""A private Kubernetes API server with etcd, without controllers and nodes.

As a program, this module runs a command while the server runs. The command gets the URL of a store
as administrator, in the environment variable FLAKEID_TEST_KUBERNETES_URL.
"""

import argparse
import base64
import http.client
import json
import os
import secrets
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from files import CheckError, require

TIMEOUT = 120


def free_port() -> int:
    """Return a port of the loopback address on which no server listens."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@dataclass
class Account:
    """A client of the API server, with the rights of its token."""

    port: int
    token: str
    authorities: Path

    def request(
        self, method: str, path: str, body: object = None, kind: str = "application/json"
    ) -> tuple[int, dict[str, Any]]:
        """Return the status and the object of a response."""
        tls = ssl.create_default_context(cafile=self.authorities)
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=tls, timeout=30)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": kind}
        text = None if body is None else json.dumps(body)
        connection.request(method, path, body=text, headers=headers)
        response = connection.getresponse()
        status, read = response.status, response.read()
        connection.close()
        return status, json.loads(read) if read.startswith(b"{") else {"text": read.decode()}

    def call(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        """Return the object of a response, which must report success."""
        status, found = self.request(method, path, body)
        require(200 <= status < 300, f"{method} {path} returned {status}: {found}")
        return found

    def kubeconfig(self, path: Path, namespace: str) -> Path:
        """Write a kubeconfig with this account to a file."""
        authorities = base64.b64encode(self.authorities.read_bytes()).decode()
        server = f"https://127.0.0.1:{self.port}"
        cluster = {"server": server, "certificate-authority-data": authorities}
        context = {"cluster": "private", "user": "account", "namespace": namespace}
        configuration = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "private", "cluster": cluster}],
            "users": [{"name": "account", "user": {"token": self.token}}],
            "contexts": [{"name": "private", "context": context}],
            "current-context": "private",
        }
        path.write_text(json.dumps(configuration))
        path.chmod(0o600)
        return path


def wait(what: str, process: "subprocess.Popen[bytes]", log: Path, account: Account) -> None:
    """Wait until the API server is ready and has created its first namespace."""
    deadline = time.monotonic() + TIMEOUT
    while time.monotonic() < deadline:
        require(process.poll() is None, f"{what} ended: {log.read_text()[-2000:]}")
        try:
            ready, _ = account.request("GET", "/readyz")
            exists, _ = account.request("GET", "/api/v1/namespaces/default")
            if (ready, exists) == (200, 200):
                return
        except OSError:
            pass  # The server does not listen yet.
        time.sleep(0.2)
    raise CheckError(f"{what} is not ready after {TIMEOUT} s: {log.read_text()[-2000:]}")


def certificates(folder: Path) -> None:
    """Create an authority, a certificate of the API server, and a key for service accounts."""
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    names = "subjectAltName=IP:127.0.0.1,DNS:localhost"
    authority = ["req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.crt", "-days", "2"]
    request = [
        "req",
        *key,
        "-keyout",
        "server.key",
        "-out",
        "server.csr",
        "-subj",
        "/CN=kubernetes",
    ]
    signed = [
        "x509",
        "-req",
        "-in",
        "server.csr",
        "-CA",
        "ca.crt",
        "-CAkey",
        "ca.key",
        "-days",
        "2",
    ]
    for arguments in (
        [*authority, "-subj", "/CN=authority"],
        [*request, "-addext", names],
        [*signed, "-CAcreateserial", "-copy_extensions", "copy", "-out", "server.crt"],
        ["ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", "accounts.key"],
    ):
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)


@contextmanager
def running(program: Path, folder: Path) -> Iterator[Account]:
    """Start etcd and the API server, yield the administrator, and stop the servers at the end."""
    certificates(folder)
    client, peer, port = free_port(), free_port(), free_port()
    etcd = f"http://127.0.0.1:{client}"
    etcd_peer = f"http://127.0.0.1:{peer}"
    administrator = Account(port, secrets.token_hex(16), folder / "ca.crt")
    (folder / "tokens.csv").write_text(f'{administrator.token},admin,admin,"system:masters"\n')
    commands = {
        "etcd": [
            "etcd",
            f"--data-dir={folder / 'etcd'}",
            f"--listen-client-urls={etcd}",
            f"--advertise-client-urls={etcd}",
            f"--listen-peer-urls={etcd_peer}",
            f"--initial-advertise-peer-urls={etcd_peer}",
            f"--initial-cluster=default={etcd_peer}",
        ],
        "kube-apiserver": [
            str(program),
            f"--etcd-servers={etcd}",
            "--bind-address=127.0.0.1",
            f"--secure-port={port}",
            f"--cert-dir={folder}",
            "--tls-cert-file=server.crt",
            "--tls-private-key-file=server.key",
            "--token-auth-file=tokens.csv",
            "--authorization-mode=RBAC",
            "--anonymous-auth=false",
            "--service-account-issuer=https://kubernetes.default.svc",
            "--service-account-key-file=accounts.key",
            "--service-account-signing-key-file=accounts.key",
            "--service-cluster-ip-range=10.96.0.0/16",
        ],
    }
    processes = []
    try:
        for name, command in commands.items():
            with (folder / f"{name}.log").open("w") as log:
                processes.append(subprocess.Popen(command, cwd=folder, stdout=log, stderr=log))
        wait("kube-apiserver", processes[1], folder / "kube-apiserver.log", administrator)
        yield administrator
    finally:
        for process in reversed(processes):
            process.kill()
            process.wait(30)


def main() -> int:
    """Run a command with the URL of a private server, and return its status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kube-apiserver", type=Path, required=True, help="the program")
    parser.add_argument("command", nargs="+", help="the command to run")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="flakeid-kubernetes-") as name:
        folder = Path(name)
        with running(arguments.kube_apiserver.resolve(), folder) as administrator:
            kubeconfig = administrator.kubeconfig(folder / "kubeconfig", "default")
            url = f"kubernetes://default/flakeid?kubeconfig={kubeconfig}"
            variables = os.environ | {"FLAKEID_TEST_KUBERNETES_URL": url}
            return subprocess.run(arguments.command, env=variables, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
