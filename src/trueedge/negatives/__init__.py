"""negatives."""
