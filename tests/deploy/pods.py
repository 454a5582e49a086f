"""The pods of a StatefulSet as processes of this host, started as a kubelet starts them."""

import json
import signal
import subprocess
import time
import urllib.request
from pathlib import Path
from typing import Any

from cluster import Account, free_port
from files import CheckError, require

# Mounts a folder like a kubelet, and runs a program. The arguments are the folder and the command.
MOUNT = """
set -e
mount -t tmpfs tmpfs /run
mkdir -p /run/secrets/kubernetes.io
ln -s "$1" /run/secrets/kubernetes.io/serviceaccount
shift
exec "$@"
"""
# The longest time until a pod is ready. A new namespace grants nothing for 15 s.
TIMEOUT = 90


class Pod:
    """One pod: its containers' commands, with addresses of this host."""

    def __init__(
        self, sets: dict[str, Any], number: int, flakeid: Path, account: Account, folder: Path
    ) -> None:
        self.name = f"{sets['metadata']['name']}-{number}"
        self.namespace = sets["metadata"]["namespace"]
        self.headless = sets["spec"]["serviceName"]
        self.spec = sets["spec"]["template"]["spec"]
        self.flakeid, self.account, self.folder = flakeid, account, folder
        self.port = free_port()
        (self.container,) = self.spec["containers"]
        self.process: subprocess.Popen[str] | None = None
        self.restarts = 0

    def resolved(self, text: str) -> str:
        """Replace the variables like a kubelet, and the pod's addresses by those of this host."""
        text = text.replace("$(POD_NAME)", self.name).replace("$(POD_NAMESPACE)", self.namespace)
        require("$(" not in text, f"unknown variable: {text}")
        pod = f"{self.name}.{self.headless}.{self.namespace}.svc:7117"
        return text.replace(pod, f"127.0.0.1:{self.port}").replace(
            "0.0.0.0:7117", f"127.0.0.1:{self.port}"
        )

    def command(self, container: dict[str, Any]) -> list[str]:
        """Return the command of a container, which finds the service account in its folder."""
        arguments = [self.resolved(argument) for argument in container["args"]]
        # A private /run, in which only this process sees the folder of the service account.
        unshare = ["unshare", "--map-root-user", "--mount", "sh", "-c", MOUNT, "sh"]
        return [*unshare, str(self.folder), str(self.flakeid), *arguments]

    def environment(self, container: dict[str, Any]) -> dict[str, str]:
        """Return the variables of a container, with those that every pod gets."""
        own = {v["name"]: self.resolved(v["value"]) for v in container["env"] if "value" in v}
        server = {
            "KUBERNETES_SERVICE_HOST": "127.0.0.1",
            "KUBERNETES_SERVICE_PORT": str(self.account.port),
        }
        return own | server | {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}

    def initialise(self) -> list[dict[str, Any]]:
        """Run the init containers, and return their output."""
        printed = []
        for container in self.spec["initContainers"]:
            environment = self.environment(container)
            tried = subprocess.run(
                self.command(container),
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            require(tried.returncode == 0, f"{self.name}: {container['name']}: {tried}")
            printed.append(json.loads(tried.stdout))
        return printed

    def start(self) -> None:
        """Start the container."""
        environment = self.environment(self.container)
        command = self.command(self.container)
        self.process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)

    def is_ready(self) -> bool:
        """Return whether the readiness probe succeeds."""
        path = self.container["readinessProbe"]["httpGet"]["path"]
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=5):
                return True
        except OSError:
            return False

    def wait(self) -> None:
        """Wait until the pod is ready, and restart the container whenever it ends."""
        deadline = time.monotonic() + TIMEOUT
        while time.monotonic() < deadline:
            if self.process is None or self.process.poll() is not None:
                self.restarts += self.process is not None
                self.start()
            if self.is_ready():
                return
            time.sleep(0.2)
        raise CheckError(f"{self.name} is not ready after {TIMEOUT} s")

    def stop(self) -> None:
        """Stop the container as a kubelet does, and check that it ends within its grace period."""
        process, self.process = self.process, None
        process.send_signal(signal.SIGTERM)
        status = process.wait(self.spec["terminationGracePeriodSeconds"])
        require(status == 0, f"{self.name} ended with {status} after SIGTERM")

    def kill(self) -> None:
        """Kill the container if it runs."""
        process, self.process = self.process, None
        if process:
            process.kill()
            process.wait(30)
