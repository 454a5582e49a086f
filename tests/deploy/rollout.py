"""Installs the chart in a private API server, and runs its pods while members lease nodes.

The brokers have only the rights of the chart's service account. `cargo xtask kubernetes` runs this
check after it has built the programs.
"""

import argparse
import json
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import cluster
from chart import CHART, Helm
from cluster import Account
from files import CheckError, require
from pods import Pod

RELEASE, NAMESPACE = "ids", "ids"
NAME = "ids-flakeid"
# The namespace of IDs that the members of the campaign use.
IDS = "failover"
MEMBERS = 100
# The longest time for which a member may have no ID, in milliseconds.
LONGEST_MS = 1_000
VALUES = [
    f"namespaces[0].name={IDS}",
    "namespaces[0].layout=twitter",
    "namespaces[0].blockBits=4",
    "namespaces[0].lost=default",
]
MAPS = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
SETS = f"/apis/apps/v1/namespaces/{NAMESPACE}/statefulsets/{NAME}"
ACCOUNT = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{NAME}"
# Requests that the service account must not be allowed to make.
FORBIDDEN = (
    ("GET", MAPS),
    ("GET", f"{MAPS}/other"),
    ("DELETE", f"{MAPS}/{NAME}-{IDS}"),
    ("GET", f"{MAPS}/{NAME}-other"),
    ("GET", f"/api/v1/namespaces/{NAMESPACE}/secrets"),
    ("GET", f"/api/v1/namespaces/{NAMESPACE}/pods"),
    ("GET", "/api/v1/namespaces/default/configmaps"),
    ("GET", "/api/v1/namespaces"),
)


def install(helm: Helm, administrator: Account, flakeid: Path, folder: Path) -> list[Pod]:
    """Install the chart, and return the pods of its StatefulSet with the account's rights."""
    values = [argument for value in VALUES for argument in ("--set", value)]
    helm.run(
        "install", RELEASE, str(CHART), "--namespace", NAMESPACE, "--create-namespace", *values
    )
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    status = administrator.call("POST", f"{ACCOUNT}/token", request)["status"]
    account = Account(administrator.port, status["token"], administrator.authorities)
    sets = administrator.call("GET", SETS)
    mounted = folder / "serviceaccount"
    mounted.mkdir(exist_ok=True)
    (mounted / "token").write_text(account.token)
    (mounted / "namespace").write_text(NAMESPACE)
    (mounted / "ca.crt").write_bytes(account.authorities.read_bytes())
    return [Pod(sets, n, flakeid, account, mounted) for n in range(sets["spec"]["replicas"])]


def rights(account: Account) -> None:
    """Check that the service account may not do anything but read and write its documents."""
    for method, path in FORBIDDEN:
        status, found = account.request(method, path)
        require(status == 403, f"the service account may {method} {path}: {status} {found}")


def documents(administrator: Account) -> dict[str, str]:
    """Return the UIDs of the store's ConfigMaps by name."""
    maps = administrator.call("GET", MAPS)["items"]
    own = [part["metadata"] for part in maps if part["metadata"]["name"].startswith(NAME)]
    return {metadata["name"]: metadata["uid"] for metadata in own}


class Members:
    """Programs that lease nodes from the brokers, and issue IDs."""

    def __init__(self, campaign: Path, pods: list[Pod], folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        url = "http://" + ",".join(f"127.0.0.1:{pod.port}" for pod in pods)
        command = [campaign, "members", "--url", url, "--layout", "twitter"]
        command += ["--threads", str(MEMBERS), "--period-ms", "10", "--folder", folder]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE)

    def end(self) -> tuple[list[dict[str, Any]], list[int]]:
        """End the members, and return their measurements and all IDs."""
        self.process.communicate(timeout=60)
        require(self.process.returncode == 0, f"members: {self.process.returncode}")
        measured = [json.loads(path.read_text()) for path in self.folder.glob("*.member")]
        logs = [path.read_bytes() for path in self.folder.glob("*.ids")]
        ids = [id for log in logs for (id,) in struct.iter_unpack("<Q", log)]
        require(len(measured) == len(logs) == MEMBERS, f"{len(logs)} members of {MEMBERS}")
        return measured, ids

    def kill(self) -> None:
        """End the members after a failure."""
        self.process.kill()
        self.process.wait(30)


@contextmanager
def running(pods: list[Pod]) -> Iterator[None]:
    """Kill the pods at the end."""
    try:
        yield
    finally:
        for pod in pods:
            pod.kill()


def check_members(what: str, members: Members) -> list[int]:
    """Check that every member had an ID in each second, and that no ID was repeated."""
    measured, ids = members.end()
    longest = max(member["longest_ms"] for member in measured)
    late = max(member["late_ms"] for member in measured)
    print(f"{what}: {len(ids)} IDs of {MEMBERS} members, at most {longest} ms without an ID")
    require(len(ids) == len(set(ids)), f"{what}: an ID was issued twice")
    require(
        longest <= LONGEST_MS,
        f"{what}: a member had no ID for {longest} ms; this host overslept by {late} ms",
    )
    require(all(not member["no_free_node"] for member in measured), f"{what}: no free node")
    return ids


def survive(pods: list[Pod], campaign: Path, folder: Path) -> list[int]:
    """Kill a broker, then replace both as a rollout does. Return the IDs of the members."""
    gap = 15  # minReadySeconds
    members = Members(campaign, pods, folder / "loss")
    try:
        time.sleep(5)
        pods[0].kill()
        time.sleep(5)
        pods[0].wait()
        time.sleep(5)
        ids = check_members("one broker killed", members)
        members = Members(campaign, pods, folder / "rollout")
        time.sleep(5)
        # A StatefulSet replaces the pod with the highest number first.
        for pod in reversed(pods):
            pod.stop()
            pod.initialise()
            pod.wait()
            time.sleep(gap)
        return ids + check_members("rollout", members)
    finally:
        members.kill()


def check(helm: Helm, administrator: Account, flakeid: Path, campaign: Path, folder: Path) -> None:
    """Install, use, uninstall and reinstall the chart."""
    pods = install(helm, administrator, flakeid, folder)
    with running(pods):
        rights(pods[0].account)
        (created,) = pods[0].initialise()
        lost = created["created"] and created["wait_ms"] > 0
        require(lost, f"the namespace was not created as a lost one: {created}")
        (existing,) = pods[1].initialise()
        require(not existing["created"], f"the namespace was created twice: {existing}")
        began = time.monotonic()
        for pod in pods:
            pod.start()
        for pod in pods:
            pod.wait()
        restarts = [pod.restarts for pod in pods]
        print(
            f"ready {time.monotonic() - began:.0f} s after the installation; restarts: {restarts}"
        )
        rights(pods[0].account)
        ids = survive(pods, campaign, folder)
        for pod in pods:
            pod.stop()
    kept = documents(administrator)
    require(kept, "there is no document")

    helm.run("uninstall", RELEASE, "--namespace", NAMESPACE)
    status, _ = administrator.request("GET", SETS)
    require(status == 404, f"helm uninstall kept the StatefulSet: {status}")
    require(documents(administrator) == kept, f"helm uninstall deleted one of {kept}")
    pods = install(helm, administrator, flakeid, folder)
    with running(pods):
        (existing,) = pods[0].initialise()
        require(not existing["created"], f"reinstalling lost the namespace: {existing}")
        for pod in pods:
            pod.wait()
        members = Members(campaign, pods, folder / "reinstalled")
        try:
            time.sleep(5)
            later = check_members("reinstalled", members)
        finally:
            members.kill()
        require(not set(ids) & set(later), "an ID was repeated after the reinstallation")
        for pod in pods:
            pod.stop()
    require(documents(administrator) == kept, "reinstalling replaced a document")


def main() -> int:
    """Run the check on a private API server."""
    parser = argparse.ArgumentParser(description=__doc__)
    for program in ("helm", "flakeid", "campaign", "kube-apiserver"):
        parser.add_argument(f"--{program}", type=Path, required=True, help="the program")
    programs = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory(prefix="flakeid-kubernetes-") as name:
            folder = Path(name)
            server = folder / "server"
            server.mkdir()
            with cluster.running(programs.kube_apiserver.resolve(), server) as administrator:
                kubeconfig = administrator.kubeconfig(folder / "kubeconfig", NAMESPACE)
                helm = Helm(programs.helm.resolve(), folder, kubeconfig)
                flakeid, campaign = programs.flakeid.resolve(), programs.campaign.resolve()
                check(helm, administrator, flakeid, campaign, folder)
    except CheckError as error:
        print(f"kubernetes: {error}", file=sys.stderr)
        return 1
    print("kubernetes: the chart installs brokers that lease with its rights")
    return 0


if __name__ == "__main__":
    sys.exit(main())
