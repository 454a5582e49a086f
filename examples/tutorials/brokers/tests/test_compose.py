"""Runs the commands of compose.yaml as processes of this host.

The processes use the database in DATABASE_URL.
"""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
import yaml

HERE = Path(__file__).parent.parent
SERVICES = yaml.safe_load((HERE / "compose.yaml").read_text())["services"]
FLAKEID = str(Path(sys.executable).with_name("flakeid"))
BROKERS = ["broker-1", "broker-2"]
WORKERS = SERVICES["worker"]["deploy"]["replicas"]


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


PORTS = {name: free_port() for name in BROKERS}


def local(name, text):
    """Replace the addresses of the containers by addresses of this host."""
    if name in PORTS:
        text = text.replace("0.0.0.0:7117", f"127.0.0.1:{PORTS[name]}")
    for broker, port in PORTS.items():
        text = text.replace(f"{broker}:7117", f"127.0.0.1:{port}")
    database = "postgresql://orders:secret@database/orders"
    return text.replace(database, os.environ["DATABASE_URL"])


def start(name, command, **options):
    environment = SERVICES[name]["environment"]
    local_environment = {key: local(name, value) for key, value in environment.items()}
    return subprocess.Popen(
        [*command, *(local(name, argument) for argument in SERVICES[name].get("command", []))],
        env=os.environ | local_environment,
        **options,
    )


def is_ready(broker):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{PORTS[broker]}/readyz"):
            return True
    except urllib.error.URLError:
        return False


@pytest.fixture
def brokers():
    # The command does nothing if the namespace exists.
    assert start("namespace", [FLAKEID]).wait() == 0
    started = {name: start(name, [FLAKEID]) for name in BROKERS}
    deadline = time.monotonic() + 60
    while not all(map(is_ready, BROKERS)):
        assert time.monotonic() < deadline, "the brokers are not ready"
        time.sleep(0.1)
    yield started
    for broker in started.values():
        broker.send_signal(signal.SIGTERM)
    assert [broker.wait(30) for broker in started.values()] == [-signal.SIGKILL, 0]


def test_workers_issue_ids_while_one_broker_is_killed(brokers, tmp_path):
    outputs = [tmp_path / f"worker-{number}" for number in range(WORKERS)]
    python = [sys.executable, str(HERE / "worker.py")]
    workers = [start("worker", python, stdout=output.open("w")) for output in outputs]
    # The window of a lease lasts four seconds, so that each worker also renews its lease.
    time.sleep(6)
    brokers["broker-1"].kill()
    time.sleep(6)
    for worker in workers:
        worker.send_signal(signal.SIGTERM)
    assert [worker.wait(30) for worker in workers] == [0] * WORKERS

    lines = [output.read_text().splitlines() for output in outputs]
    ids = [[int(line.split()[0]) for line in printed] for printed in lines]
    for printed in ids:
        assert len(printed) > 100, "a worker issued no IDs for some seconds"
        assert printed == sorted(printed)
    together = [id for printed in ids for id in printed]
    assert len(set(together)) == len(together)


def test_services_refer_to_services_and_volumes():
    volumes = yaml.safe_load((HERE / "compose.yaml").read_text())["volumes"]
    for name, service in SERVICES.items():
        assert "image" in service or "build" in service, name
        assert set(service.get("depends_on", ())) <= set(SERVICES), name
        assert {volume.split(":")[0] for volume in service.get("volumes", ())} <= set(volumes), name
