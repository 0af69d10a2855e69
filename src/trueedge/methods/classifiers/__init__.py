"""Learn from a few features, such as degrees and common neighbours, to tell edges from other pairs."""
