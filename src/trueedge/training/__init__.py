"""Training: the one loop that every learned method goes through."""

from trueedge.training.checkpoints import Checkpoint
from trueedge.training.convolutions import StackedEncoder
from trueedge.training.inputs import (
    DenseInput,
    Input,
    LearnedInput,
    SparseInput,
    feature_input,
    input_of,
    spectral_input,
)
from trueedge.training.loop import History, seeded, train
from trueedge.training.messages import Messages
from trueedge.training.model import DotPredictor, Encoder, LinkModel, MlpPredictor
from trueedge.training.objectives import Objective, PairObjective, ReconstructionObjective
from trueedge.training.schedule import Schedule
from trueedge.training.scorer import TrainedScorer
from trueedge.training.watching import watching

__all__ = [
    "Checkpoint",
    "DenseInput",
    "DotPredictor",
    "Encoder",
    "History",
    "Input",
    "LearnedInput",
    "LinkModel",
    "Messages",
    "MlpPredictor",
    "Objective",
    "PairObjective",
    "ReconstructionObjective",
    "Schedule",
    "SparseInput",
    "StackedEncoder",
    "TrainedScorer",
    "feature_input",
    "input_of",
    "seeded",
    "spectral_input",
    "train",
    "watching",
]
