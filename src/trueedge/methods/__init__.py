"""Link predictors; a new file with a new :class:`Method` adds one."""

from trueedge.methods.method import SUFFIXES, Method, Range, catalogue, create, get, setting

__all__ = ["SUFFIXES", "Method", "Range", "catalogue", "create", "get", "setting"]
