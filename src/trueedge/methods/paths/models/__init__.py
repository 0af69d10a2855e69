"""The torch modules of path-based models."""
