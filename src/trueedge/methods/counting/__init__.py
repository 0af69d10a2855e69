"""Count training triples: an answer is scored by how often it occurs, whatever the query asks about."""
