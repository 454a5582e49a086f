"""The command in the package: `flakeid` and `python -m flakeid`."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import flakeid

SCRIPT = Path(sys.executable).with_name("flakeid.exe" if os.name == "nt" else "flakeid")

COMMANDS = {"script": [str(SCRIPT)], "module": [sys.executable, "-P", "-m", "flakeid"]}


@pytest.fixture(params=sorted(COMMANDS))
def command(request):
    return COMMANDS[request.param]


def run(command, *arguments, **options):
    return subprocess.run(
        [*command, *arguments], capture_output=True, check=False, text=True, timeout=60, **options
    )


def test_command_prints_ids_and_its_version(command, url):
    done = run(command, "next", "-n", "3", "--store", url)
    ids = [int(line) for line in done.stdout.splitlines()]
    assert len(ids) == 3
    assert ids == sorted(set(ids))
    assert run(command, "--version").stdout == f"flakeid {flakeid.__version__}\n"
    assert "Usage: flakeid [OPTIONS] <COMMAND>" in run(command, "--help").stdout
    assert "Usage: flakeid next" in run(command, "next", "--help").stdout


def test_command_returns_its_exit_status(command, url):
    assert run(command, "inspect", "1").returncode == 0
    done = run(command, "inspect", "x")
    assert (done.returncode, done.stdout) == (1, "")
    assert "FLAKEID_INVALID_ID" in done.stderr
    done = run(command, "inspect", "--unknown")
    assert done.returncode == 2
    assert "unexpected argument '--unknown'" in done.stderr
    program = "import os, sys; sys.exit(int(os.environ['WORKER_ID']) % 1 + 7)"
    arguments = ["exec", "--store", url, "--", sys.executable, "-c", program]
    if sys.platform != "win32":
        assert run(command, *arguments).returncode == 7


def test_command_creates_namespaces_for_leases(command, url):
    done = run(command, "leases", "init", "--fresh", "--store", url, "--namespace", "orders")
    assert done.returncode == 0, done.stderr
    with flakeid.lease(url, namespace="orders") as generator:
        assert generator.next_id() > 0
        listed = run(command, "leases", "ls", "--store", url, "--namespace", "orders")
        assert str(os.getpid()) in listed.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="the signal does not exist there")
@pytest.mark.parametrize(
    ("arguments", "running", "status"),
    [
        (("leases", "watch"), "", -signal.SIGINT),
        # This line is written after the server has set its handlers of signals.
        (("serve", "--listen", "127.0.0.1:0"), "http://", 0),
    ],
)
def test_ctrl_c_ends_the_command(command, arguments, running, status, url):
    # Shells let background processes ignore Ctrl-C. A new process inherits that, but no handler.
    inherited = signal.signal(signal.SIGINT, signal.default_int_handler)
    with (
        flakeid.lease(url),
        subprocess.Popen(
            [*command, *arguments, "--store", url],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process,
    ):
        signal.signal(signal.SIGINT, inherited)
        try:
            first = process.stdout.readline()
            while running not in first:
                first += process.stdout.readline()
            process.send_signal(signal.SIGINT)
            printed, _ = process.communicate(timeout=60)
        finally:
            process.kill()
        assert process.returncode == status, first + printed
        assert "Traceback" not in printed


@pytest.mark.skipif(sys.platform == "win32", reason="pipes are closed in another way there")
def test_command_ends_when_its_reader_ends(command, url):
    process = subprocess.Popen(
        [*command, "next", "-n", "10000000", "--store", url],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert int(process.stdout.readline()) > 0
    process.stdout.close()
    with process:
        assert process.wait(timeout=60) == 0
        assert process.stderr.read() == ""
