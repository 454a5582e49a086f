"""Filling of arrays in place."""

import ctypes
from array import array

import numpy
import pytest

import flakeid

START = 910499571847892992


@pytest.mark.parametrize("call", ["fill", "try_fill"])
@pytest.mark.parametrize(
    "make",
    [
        lambda n: numpy.zeros(n, numpy.uint64),
        lambda n: numpy.zeros(n, numpy.int64),
        lambda n: numpy.zeros(n, numpy.ulonglong),
        lambda n: array("Q", bytes(8 * n)),
        lambda n: array("q", bytes(8 * n)),
        lambda n: memoryview(bytearray(8 * n)).cast("Q"),
        lambda n: memoryview(bytearray(8 * n)).cast("q"),
        lambda n: memoryview(bytearray(8 * n)).cast("N"),
        lambda n: (ctypes.c_uint64 * n)(),
    ],
)
def test_fill_accepts_buffers_of_64_bit_integers(generator, make, call):
    buffer = make(100)
    assert getattr(generator, call)(buffer) == 100
    assert list(map(int, buffer)) == list(range(START, START + 100))
    assert generator.next_id() == START + 100
    assert getattr(generator, call)(make(0)) == 0


def test_fill_writes_only_inside_its_slice(generator):
    whole = numpy.full(100, 7, numpy.uint64)
    assert generator.fill(whole[10:20]) == 10
    assert whole[10:20].tolist() == list(range(START, START + 10))
    assert (whole[:10] == 7).all()
    assert (whole[20:] == 7).all()


def test_fill_accepts_arrays_of_several_dimensions(generator):
    grid = numpy.zeros((3, 4), numpy.uint64)
    assert generator.fill(grid) == 12
    assert grid.ravel().tolist() == list(range(START, START + 12))
    with pytest.raises(BufferError):
        generator.fill(numpy.zeros((), numpy.uint64))


@pytest.mark.parametrize(
    "buffer",
    [
        numpy.zeros(8, numpy.float64),
        numpy.zeros(8, numpy.uint32),
        numpy.zeros(8, numpy.dtype("u8").newbyteorder()),
        numpy.zeros(8, numpy.complex64),
        numpy.zeros(8, [("a", "u8")]),
        numpy.zeros(8, bool),
        numpy.zeros(8, "S8"),
        array("d", bytes(64)),
        array("I", bytes(64)),
        bytearray(64),
        memoryview(bytearray(64)),
        memoryview(bytearray(64)).cast("d"),
        (ctypes.c_double * 8)(),
    ],
    ids=lambda buffer: f"{type(buffer).__name__} {getattr(memoryview(buffer), 'format', '')}",
)
def test_fill_rejects_buffers_of_other_items(generator, buffer):
    before = bytes(memoryview(buffer).cast("B"))
    with pytest.raises(TypeError, match=r"64-bit integers .* not items of"):
        generator.fill(buffer)
    assert bytes(memoryview(buffer).cast("B")) == before
    assert generator.next_id() == START


@pytest.mark.parametrize("buffer", [None, 1, "12345678", [0] * 8, object(), (1, 2)])
def test_fill_rejects_objects_without_a_buffer(generator, buffer):
    with pytest.raises(TypeError, match="bytes-like"):
        generator.fill(buffer)
    assert generator.next_id() == START


def read_only():
    numbers = numpy.zeros(8, numpy.uint64)
    numbers.flags.writeable = False
    return numbers


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (read_only, "read-only"),
        (lambda: memoryview(bytes(64)).cast("Q"), "read-only"),
        (lambda: numpy.zeros(8, numpy.uint64)[::2], "not C-contiguous"),
        (lambda: numpy.zeros(8, numpy.uint64)[::-1], "not C-contiguous"),
        (lambda: numpy.zeros((4, 4), numpy.uint64).T[:2], "not C-contiguous"),
        (lambda: numpy.zeros((4, 4), numpy.uint64, order="F"), "not C-contiguous"),
        (lambda: memoryview(bytearray(65))[1:].cast("Q"), "not aligned"),
    ],
)
def test_fill_rejects_memory_that_cannot_be_written(generator, make, text):
    buffer = make()
    before = numpy.asarray(buffer).tolist()
    for call in (generator.fill, generator.try_fill):
        with pytest.raises(BufferError, match=text):
            call(buffer)
    assert numpy.asarray(buffer).tolist() == before
    assert generator.next_id() == START


def test_fill_releases_the_buffer(generator):
    numbers = array("Q", bytes(80))
    generator.fill(numbers)
    numbers.append(1)
    with pytest.raises(TypeError):
        generator.fill(array("d", bytes(8)))
    blob = bytearray(64)
    with pytest.raises(TypeError):
        generator.fill(blob)
    blob.extend(b"more")


def test_fill_writes_a_million_increasing_ids():
    generator = flakeid.Generator(node=11, layout="plain")
    numbers = numpy.zeros(1_000_000, numpy.uint64)
    assert generator.fill(numbers) == 1_000_000
    assert (numpy.diff(numbers) > 0).all()
    assert flakeid.decode(int(numbers[-1]), "plain").node == 11


def test_fill_keeps_the_unfilled_rest_unchanged(clock):
    generator = flakeid.Generator(node=1, clock=clock, overflow="error")
    for size in (5000, 100_000):
        numbers = numpy.full(size, 7, numpy.uint64)
        assert generator.fill(numbers) == 4096
        assert (numbers[4096:] == 7).all()
        with pytest.raises(flakeid.SequenceExhaustedError):
            generator.fill(numbers)
        clock.advance(0.001)
