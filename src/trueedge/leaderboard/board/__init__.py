"""The board: task cards, entries with their certificates, tiers, ranks and checks."""

from trueedge.leaderboard.board.board import Board
from trueedge.leaderboard.board.entry import RANKED, Entry, Tier
from trueedge.leaderboard.board.entry_card import EntryCard
from trueedge.leaderboard.board.problem import Problem
from trueedge.leaderboard.board.task_card import BoardTask, FrozenSeed

__all__ = ["RANKED", "Board", "BoardTask", "Entry", "EntryCard", "FrozenSeed", "Problem", "Tier"]
