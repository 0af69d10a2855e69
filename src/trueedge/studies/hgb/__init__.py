"""Tables of Lv et al., Are We Really Making Much Progress?, KDD 2021."""
