"""The leaderboard: a folder of certificates, the pages made from it, and a server that judges hidden labels."""
