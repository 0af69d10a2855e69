"""The version of trueedge, where every file may read it."""

VERSION = "0.2.0"
