"""Learn to separate edges from other pairs by a few features, such as degrees and common neighbours."""
