"""Models of groups of nodes: a pair is as likely an edge as its two groups are joined."""
