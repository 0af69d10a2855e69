"""Score a pair by a formula computed from the graph or the features; nothing is trained."""
