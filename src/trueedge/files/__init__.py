"""Reading and writing files: bounded, checked, and written whole."""
