"""Releases leased nodes when the interpreter exits, and in its forked children when they exit."""

import atexit
import os
import sys

from ._flakeid import _after_fork, _close_leases, _end


def _in_child() -> None:
    _after_fork()
    # Children of multiprocessing do not run atexit functions, only multiprocessing's finalizers.
    # It clears these after a fork, before it calls the functions that are registered here.
    util = sys.modules.get("multiprocessing.util")
    if util is not None:
        util.register_after_fork(_close_leases, _finalize)


def _finalize(close: object) -> None:
    util = sys.modules["multiprocessing.util"]
    util.Finalize(None, close, exitpriority=0)


atexit.register(_end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
