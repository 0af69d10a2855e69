"""The torch modules of models for typed graphs."""
