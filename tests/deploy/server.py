"""Runs `flakeid serve` with the exact arguments of the manifests and of the unit."""

import http.client
import json
import re
import signal
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from files import DEPLOY, CheckError, require
from manifests import Manifests

TOKEN = "0123456789abcdef0123456789abcdef"
METRICS_TOKEN = "fedcba9876543210fedcba9876543210"
POD = "flakeid-broker-0"
TIMEOUT = 30
UNIT = DEPLOY / "systemd" / "flakeid-serve.service"
HOST_UNIT = DEPLOY / "systemd" / "flakeid-host.service"


@dataclass
class Running:
    """A running server on a free port."""

    port: int
    tls: ssl.SSLContext | None
    # The ports of the other listeners, in the order in which the server announces them.
    others: list[int]

    def request(self, method: str, path: str, token: str = "", body: str = "") -> tuple[int, str]:
        """Return the status and the body of a response."""
        kind = http.client.HTTPSConnection if self.tls else http.client.HTTPConnection
        options = {"context": self.tls} if self.tls else {}
        connection = kind("127.0.0.1", self.port, timeout=TIMEOUT, **options)
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        if body:
            headers["Content-Type"] = "application/json"
        connection.request(method, path, body=body or None, headers=headers)
        response = connection.getresponse()
        status, text = response.status, response.read().decode()
        connection.close()
        return status, text


@contextmanager
def running(
    flakeid: Path, arguments: list[str], store: str, folder: Path, tls: ssl.SSLContext | None = None
) -> Iterator[Running]:
    """Start the server, and check at the end that it stops after SIGTERM."""
    arguments = [re.sub(r"^(--listen=.*):\d+$", r"\1:0", argument) for argument in arguments]
    process = subprocess.Popen(
        [flakeid, *arguments],
        cwd=folder,
        env={"FLAKEID_STORE": store},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        address = process.stdout.readline().strip()
        if not address:
            raise CheckError(f"did not start: {arguments}: {process.communicate()[1]}")
        listeners = [text for text in arguments if text.startswith(("--resp=", "--grpc="))]
        addresses = [address, *(process.stdout.readline().strip() for _ in listeners)]
        ports = [text.rpartition(":")[2] for text in addresses]
        port, *others = [int(port) if port.isdigit() else 0 for port in ports]
        yield Running(port, tls, others)
        process.send_signal(signal.SIGTERM)
        status = process.wait(TIMEOUT)
        require(status == 0, f"ended with {status}: {process.stderr.read()}")
    finally:
        process.kill()
        process.communicate()


def certificate(folder: Path) -> ssl.SSLContext:
    """Create a certificate for 127.0.0.1, and a context that trusts it."""
    make = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    make += ["-nodes", "-keyout", "tls.key", "-out", "tls.crt", "-days", "2"]
    make += ["-subj", "/CN=flakeid", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(make, cwd=folder, check=True, capture_output=True)
    return ssl.create_default_context(cafile=folder / "tls.crt")


def manifest_arguments(found: Manifests, folder: Path) -> list[str]:
    """Return the container's arguments, with files of a folder instead of mounted ones."""
    mounted = found.mounted()
    arguments = []
    for argument in found.arguments:
        flag, _, value = argument.partition("=")
        local = f"{flag}={folder / mounted[value][1]}" if value in mounted else argument
        # Kubernetes replaces these variables in the arguments.
        arguments.append(local.replace("$(POD_NAME)", POD).replace("$(POD_NAMESPACE)", "default"))
    return arguments


def valid_arguments(found: Manifests, folder: Path) -> list[str]:
    """Return the container's arguments after writing the file of tokens."""
    (folder / "tokens").write_text(f"{TOKEN}\n{METRICS_TOKEN}\n")
    return manifest_arguments(found, folder)


def pod(flakeid: Path, found: Manifests, folder: Path, tls: ssl.SSLContext) -> str:
    """Run the container's command, check its probes and its scrape target, return the metrics."""
    arguments = valid_arguments(found, folder)
    (endpoint,) = found.monitoring["ServiceMonitor", found.name]["spec"]["endpoints"]
    scrape = endpoint["path"]
    namespace = found.flag("namespace")
    leases = f"/v1/{namespace}/leases"
    store = f"sqlite://{folder}/{found.name}.db"
    with running(flakeid, arguments, store, folder, tls) as server:
        for name, probe in found.probes().items():
            require(probe["scheme"] == "HTTPS", f"{name}: {probe}")
            status, text = server.request("GET", probe["path"])
            require(status == 200, f"{name}: {probe['path']} returned {status}: {text}")
        ids = f"/v1/{namespace}/ids"
        for method, path, token, wanted in (
            ("POST", ids, "", 401),
            ("POST", ids, TOKEN, 200),
            ("GET", leases, TOKEN, 404 if "--no-leases" in arguments else 200),
            ("GET", scrape, "", 401),
        ):
            status, text = server.request(method, path, token)
            require(status == wanted, f"{method} {path} returned {status}, not {wanted}: {text}")
        if "--no-leases" not in arguments:
            now = json.dumps({"now": time.time_ns() // 1_000_000})
            status, grant = server.request("POST", leases, TOKEN, now)
            require(status == 200, f"{leases} returned {status}: {grant}")
            where = f"https://{POD}.{found.workload['serviceName']}.default.svc:7117"
            require(
                json.loads(grant)["broker"] == where, f"the grant names another broker: {grant}"
            )
        status, metrics = server.request("GET", scrape, METRICS_TOKEN)
        require(status == 200, f"{scrape} returned {status}: {metrics}")
    return metrics


def namespaces(flakeid: Path, found: Manifests, folder: Path) -> None:
    """Check that the init containers create a missing namespace as a lost one, and keep it."""
    store = {"FLAKEID_STORE": f"sqlite://{folder}/init-{found.name}.db"}
    for arguments in found.inits:
        for is_new in (True, False):
            tried = subprocess.run(
                [flakeid, *arguments], env=store, capture_output=True, text=True, check=False
            )
            require(tried.returncode == 0, f"{arguments}: {tried.stderr}")
            created = json.loads(tried.stdout)
            require(created["created"] is is_new, f"{arguments}: {created}")
            require(created["wait_ms"] > 0, f"{arguments}: declares a fresh namespace: {created}")


def placeholders(flakeid: Path, found: Manifests, folder: Path) -> None:
    """Check that the server refuses to start with the placeholder tokens of the Secret."""
    text = found.all["Secret", "flakeid-serve"]["stringData"]["tokens"]
    (folder / "tokens").write_text(text)
    arguments = [flakeid, *manifest_arguments(found, folder)]
    store = {"FLAKEID_STORE": f"sqlite://{folder}/placeholders.db"}
    tried = subprocess.run(
        arguments, env=store, capture_output=True, text=True, timeout=TIMEOUT, check=False
    )
    refused = tried.returncode != 0 and "token-file" in tried.stderr
    require(refused, f"the server accepted the placeholder tokens of secret.yaml: {tried}")


def unit(flakeid: Path, folder: Path) -> None:
    """Check that the unit's command runs with the unit's store."""
    text = UNIT.read_text()
    (command,) = re.findall(r"^ExecStart=/usr/bin/flakeid (.*)$", text, re.MULTILINE)
    (store,) = re.findall(r"^Environment=FLAKEID_STORE=(.*)$", text, re.MULTILINE)
    (state,) = re.findall(r"^StateDirectory=(.*)$", text, re.MULTILINE)
    (folder / state).mkdir()
    with running(flakeid, command.split(), store.replace("%S", str(folder)), folder) as server:
        status, response = server.request("POST", "/v1/default/ids")
        require(status == 200, f"the unit's server returned {status}: {response}")
    require((folder / state / "flakeid.db").exists(), f"the store is not in {state}")


def host_unit(flakeid: Path, folder: Path) -> None:
    """Check that the command of the host's unit leases nodes by the URL in the host's file."""
    text = HOST_UNIT.read_text()
    (command,) = re.findall(r"^ExecStart=/usr/bin/flakeid (.*)$", text, re.MULTILINE)
    (store,) = re.findall(r"^Environment=FLAKEID_STORE=(.*)$", text, re.MULTILINE)
    directories = re.findall(r"^(?:State|Runtime)Directory=(.*)$", text, re.MULTILINE)
    folder /= "host"
    for directory in directories:
        (folder / directory).mkdir(parents=True)
    (url,) = re.findall(r"^http.*$", (DEPLOY / "systemd" / "store").read_text(), re.MULTILINE)
    url = url.replace("/run/", f"{folder}/")
    command = command.replace("%t", str(folder))
    with running(flakeid, command.split(), store.replace("%S", str(folder)), folder):
        lease = subprocess.run(
            [flakeid, "next", "--store", url], capture_output=True, text=True, check=False
        )
        require(lease.returncode == 0, f"no ID from the host's broker: {lease.stderr}")
