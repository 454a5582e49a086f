"""Releases leased nodes when the interpreter or a worker ends, and in the garbage collector."""

import atexit
import os
import sys

from ._flakeid import CachedGenerator, Generator, _after_fork, _close_leases, _end


def _close(*_: object, **__: object) -> None:
    _close_leases()


def _in_child() -> None:
    _after_fork()
    # multiprocessing clears its finalizers after a fork, before it calls the functions that are
    # registered here.
    util = sys.modules.get("multiprocessing.util")
    if util is not None:
        util.register_after_fork(_close_leases, _finalize)
    _register_with_celery()


def _finalize(_: object) -> None:
    """Register with multiprocessing, whose children run its finalizers, but no atexit functions."""
    sys.modules["multiprocessing.util"].Finalize(None, _close_leases, exitpriority=0)


def _register_with_celery() -> None:
    """Register with Celery, whose pool processes run neither atexit functions nor finalizers."""
    signals = sys.modules.get("celery.signals")
    if signals is not None:
        signals.worker_process_shutdown.connect(_close, weak=False, dispatch_uid=__name__)


def _register_with_uwsgi() -> None:
    """Register with uWSGI, whose option --skip-atexit-teardown also skips atexit functions."""
    uwsgi = sys.modules.get("uwsgi")
    if uwsgi is not None and not hasattr(uwsgi, "atexit"):
        uwsgi.__dict__["atexit"] = _close


for _class in (Generator, CachedGenerator):
    # pyo3 has no finalizers, so Python adds them.
    setattr(_class, "__del__", _class._collect)  # noqa: B010 - mypy rejects the assignment
atexit.register(_end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
_process = sys.modules.get("multiprocessing.process")
if _process is not None and _process.parent_process() is not None:
    # A child of multiprocessing imports this package after its start.
    _finalize(None)
_register_with_celery()
_register_with_uwsgi()
