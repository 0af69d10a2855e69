"""Attacks on readers, stores, tasks, certificates, scorers and environments."""
