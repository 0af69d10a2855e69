"""Methods for knowledge graphs: baselines that only count, and embedding models."""
