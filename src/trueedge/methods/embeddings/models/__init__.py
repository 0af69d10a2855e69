"""What trained embeddings are made of; needs torch."""
