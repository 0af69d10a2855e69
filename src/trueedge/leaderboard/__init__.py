"""The leaderboard: a folder of certificates, its pages, and a server that judges hidden labels."""
