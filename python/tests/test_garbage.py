"""Cycles of generators, rings and handlers, which the garbage collector frees."""

import gc
import time
import weakref

import pytest

import flakeid


def collected(reference):
    """Whether the garbage collector frees the object, once no other thread uses it."""
    deadline = time.monotonic() + 20
    while reference() is not None and time.monotonic() < deadline:
        gc.collect()
        time.sleep(0.01)
    return reference() is None


class Service:
    """A program whose handlers refer to the object that has the generator."""

    def __init__(self):
        self.noted = []

    def note(self, what):
        self.noted.append(what)


def test_generator_and_its_event_function_are_collected(url):
    service = Service()
    service.generator = flakeid.lease(url, nodes=(7, 7), on_event=service.note)
    service.local = service.generator.local()
    service.local.next_id()
    reference = weakref.ref(service)
    del service
    assert collected(reference)
    # The node was released.
    with flakeid.lease(url, nodes=(7, 7), name="other", max_wait=0) as other:
        assert other.node == 7


def test_generator_that_is_in_use_keeps_its_event_function(url):
    service = Service()
    generator = flakeid.lease(url, on_event=service.note, window=0.1)
    noted = service.noted
    del service
    gc.collect()
    deadline = time.monotonic() + 20
    while "renewed" not in {event.kind for event in noted}:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    generator.close()


@pytest.mark.parametrize("handler", ["on_rejected_put", "on_rejected_take"])
def test_ring_and_its_handlers_are_collected(handler, clock):
    service = Service()
    generator = flakeid.Generator(node=1, clock=clock)
    service.ring = flakeid.CachedGenerator(generator, **{handler: service.note})
    service.ring.next_id()
    reference = weakref.ref(service)
    del service
    assert collected(reference)
    assert generator.next_id()
