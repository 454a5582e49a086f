#!/bin/sh
# rustdoc with its unstable options. The variable is not set for cargo, because build scripts read it, and cargo would
# compile their packages again.
RUSTC_BOOTSTRAP=1 exec rustdoc "$@"
