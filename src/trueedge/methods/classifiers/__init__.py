"""Learn to tell edges from other pairs by a few features of the pair, such as degrees and common neighbours."""
