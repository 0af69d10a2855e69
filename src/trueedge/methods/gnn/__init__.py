"""Graph neural networks: message passing, then a predictor of pairs."""
