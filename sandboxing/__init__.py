"""Portable sandbox intent, bound to one machine and enforced by what that machine offers.

The public entry points live in `sandboxing.run`; this package itself imports nothing, so that
starting `sandboxctl` stays cheap.
"""
