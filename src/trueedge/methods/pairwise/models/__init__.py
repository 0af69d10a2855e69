"""What the pairwise methods train; needs torch."""
