"""The torch modules of embedding models."""
