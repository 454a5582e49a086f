"""Interfaces of other libraries on flakeid's generators, for programs that migrate to flakeid."""
