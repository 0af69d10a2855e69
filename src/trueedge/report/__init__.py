"""Pages and pictures from records and findings."""
