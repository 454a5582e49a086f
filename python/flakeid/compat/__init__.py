"""Interfaces of other libraries over flakeid's generators, for programs that migrate to flakeid."""
