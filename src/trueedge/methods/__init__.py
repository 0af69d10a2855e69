"""Link predictors, one file each; adding a file adds a method."""

from trueedge.methods.method import Method, Range, catalogue, create, get, setting

__all__ = ["Method", "Range", "catalogue", "create", "get", "setting"]
