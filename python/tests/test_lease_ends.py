"""Processes that lease a node and end in different ways."""

import subprocess
import sys

import pytest

import flakeid


def run(program, *arguments, **environment):
    done = subprocess.run(
        [sys.executable, "-P", "-c", program, *arguments],
        capture_output=True,
        check=False,
        text=True,
        env={"PATH": "", **environment},
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize(
    "ending",
    [
        "",
        "sys.exit()",
        "del generator",
        "generator.close()",
        "threading.Thread(target=print).start()",
    ],
)
def test_normal_exit_releases_the_node(url, ending):
    program = f"""
import flakeid, sys, threading
generator = flakeid.lease(sys.argv[1], nodes=(3, 3), on_event=lambda event: print(event.kind))
shared = flakeid.lease(sys.argv[1], nodes=(4, 4))
generator.next_id()
{ending}
"""
    assert run(program, url).split() == ["acquired", "released"]
    assert flakeid.lease(url, nodes=(3, 3)).node == 3
    assert flakeid.lease(url, nodes=(4, 4)).node == 4


def test_node_expires_after_an_abrupt_exit(url):
    program = """
import flakeid, os, sys
generator = flakeid.lease(sys.argv[1], nodes=(3, 3), ttl=1)
print(generator.next_id(), flush=True)
os._exit(0)
"""
    id = int(run(program, url))
    assert flakeid.lease(url, nodes=(3, 3), max_wait=30).next_id() > id


def test_auto_shares_one_lease_until_exit(url):
    program = """
import flakeid
first, second = flakeid.auto(), flakeid.auto()
assert first.node == second.node and first is not second
with first:
    ids = [first.next_id(), second.next_id()]
ids += [flakeid.auto().next_id() for _ in range(3)]
assert ids == sorted(set(ids))
assert {flakeid.decode(id).node for id in ids} == {second.node}
assert second.lease.grants == 1
assert flakeid.auto("twitter").lease.grants == 1
print(second.node)
"""
    environment = {"FLAKEID_STORE": url, "FLAKEID_NAMESPACE": "auto"}
    node = int(run(program, **environment))
    assert flakeid.lease(url, namespace="auto", nodes=(node, node)).node == node
