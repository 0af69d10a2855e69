"""Training: one loop for every model, and link prediction on top of it (:mod:`.links`)."""

from trueedge.training.callbacks import Callback, Callbacks, use_callbacks, watching
from trueedge.training.checkpoints import Checkpoint
from trueedge.training.links.convolutions import StackedEncoder
from trueedge.training.links.inputs import (
    DenseInput,
    Input,
    LearnedInput,
    SparseInput,
    feature_input,
    input_of,
    spectral_input,
)
from trueedge.training.links.messages import Messages
from trueedge.training.links.model import DotPredictor, Encoder, LinkModel, MlpPredictor
from trueedge.training.links.objectives import PairObjective, ReconstructionObjective
from trueedge.training.links.schedule import Schedule
from trueedge.training.links.scorer import TrainedScorer
from trueedge.training.links.train import train
from trueedge.training.logs import TensorBoard, WeightsAndBiases
from trueedge.training.loop import History, Objective, optimize, seeded
from trueedge.training.schedule import LoopSchedule

__all__ = [
    "Callback",
    "Callbacks",
    "Checkpoint",
    "DenseInput",
    "DotPredictor",
    "Encoder",
    "History",
    "Input",
    "LearnedInput",
    "LinkModel",
    "LoopSchedule",
    "Messages",
    "MlpPredictor",
    "Objective",
    "PairObjective",
    "ReconstructionObjective",
    "Schedule",
    "SparseInput",
    "StackedEncoder",
    "TensorBoard",
    "TrainedScorer",
    "WeightsAndBiases",
    "feature_input",
    "input_of",
    "optimize",
    "seeded",
    "spectral_input",
    "train",
    "use_callbacks",
    "watching",
]
