"""What classifiers of pairs train; needs torch."""
