"""Tables and figures of HeaRT (Li et al., NeurIPS 2023)."""
