"""Tables and figures of the implicit degree bias paper (Aiyappa et al., ICML 2025)."""
