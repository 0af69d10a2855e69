"""Score a pair by a formula on the graph or the features; nothing is trained."""
