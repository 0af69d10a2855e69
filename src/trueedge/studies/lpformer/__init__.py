"""Tables of LPFormer (Shomer et al., KDD 2024)."""
