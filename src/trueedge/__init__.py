"""trueedge finds out what a link predictor is really worth."""
