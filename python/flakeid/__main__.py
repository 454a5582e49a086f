"""The command `flakeid`, which `python -m flakeid` also runs."""

import signal
import sys

from ._flakeid import _run


def main() -> int:
    """Run the command with the arguments of this program, and return the exit status."""
    # Python's own handler would not run before the command has ended, so Ctrl-C would have no
    # effect.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _run(["flakeid", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
