"""Methods without pyo3's wrapper, and the checks that the wrapper would do."""

import inspect
import sys

import pytest

import flakeid

METHODS = [
    (flakeid.Generator, "next_id"),
    (flakeid.Generator, "try_next_id"),
    (flakeid.LocalGenerator, "next_id"),
    (flakeid.CachedGenerator, "next_id"),
    (flakeid.CachedGenerator, "take"),
]


@pytest.fixture
def objects():
    # No tick of this layout fills up, and the generator's first tick is over.
    generator = flakeid.Generator(node=1, layout="t41.n1.s21@777/1ms")
    generator.next_id()
    with flakeid.CachedGenerator(generator) as ring:
        yield {
            flakeid.Generator: generator,
            flakeid.LocalGenerator: generator.local(),
            flakeid.CachedGenerator: ring,
        }
    generator.close()


@pytest.mark.parametrize(("cls", "name"), METHODS)
def test_a_method_looks_like_any_other(cls, name):
    method = getattr(cls, name)
    assert str(inspect.signature(method)) == "(self, /)"
    assert method.__doc__.startswith("The next ID")
    assert method.__name__ == name
    assert method.__qualname__ == f"{cls.__name__}.{name}"


@pytest.mark.parametrize(("cls", "name"), METHODS)
def test_a_method_is_for_objects_of_its_class(cls, name, objects):
    method = getattr(cls, name)
    others = [made for other, made in objects.items() if other is not cls]
    for other in [None, 5, object(), cls, *others]:
        with pytest.raises(TypeError):
            method(other)
    with pytest.raises(TypeError):
        method()
    assert method(objects[cls]) > 0


@pytest.mark.parametrize(("cls", "name"), METHODS)
def test_a_method_takes_no_arguments(cls, name, objects):
    method = getattr(objects[cls], name)
    with pytest.raises(TypeError):
        method(1)
    with pytest.raises(TypeError):
        method(n=1)


@pytest.mark.parametrize(("cls", "name"), METHODS)
def test_neither_ids_nor_errors_keep_a_reference(cls, name, objects):
    made = objects[cls]
    method = getattr(made, name)
    held = sys.getrefcount(made)
    for _ in range(1000):
        method()
    assert sys.getrefcount(made) == held
    objects[flakeid.Generator].close()
    for _ in range(1000):
        with pytest.raises(flakeid.ClosedError):
            method()
    assert sys.getrefcount(made) == held
