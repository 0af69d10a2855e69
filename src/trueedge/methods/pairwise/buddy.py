"""BUDDY: node counts around a pair, estimated from sketches, and averaged features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from trueedge.methods.method import setting
from trueedge.methods.pairwise.pairwise import Pairwise
from trueedge.methods.trained import HasInputs, HasMessages, open_setting
from trueedge.randomness import derive

if TYPE_CHECKING:
    from trueedge.tasks import GraphTask
    from trueedge.training import LinkModel


@dataclass(frozen=True)
class BUDDY(HasInputs, HasMessages, Pairwise):
    """Numbers of nodes by their distance from both ends, and features averaged over neighbours.

    Sketches of all nodes are made for every batch, on the graph without the batch's edges. The hidden layer
    of the counts is averaged over both directions of a pair.

    HeaRT's published runs made sketches once, with the batch's edges in the graph, and drew the training
    negatives once: ``hide_positives=False, fixed_negatives=True, reject_edges=True``. Their batches of 1,024
    hold edges and negatives together, half of each: ``batch_size=512``.
    """

    name: ClassVar[str] = "buddy"
    title: ClassVar[str] = "BUDDY, counts from subgraph sketches"
    citation: ClassVar[str] = (
        "Chamberlain et al., Graph Neural Networks for Link Prediction with Subgraph Sketching, 2023"
    )
    defaults: ClassVar[Mapping[str, Any]] = {"label_dropout": 0.5, "feature_dropout": 0.5, "hops": 2}

    label_dropout: float = open_setting(
        float, "dropout on the count features", low=0.0, high=0.99, search=(0.1, 0.3, 0.5)
    )
    feature_dropout: float = open_setting(
        float, "dropout on the node features", low=0.0, high=0.99, search=(0.1, 0.3, 0.5)
    )
    hops: int = open_setting(int, "largest distance from an end at which nodes are counted", low=1, high=8)
    feature_hops: int = setting(
        0,
        "use the features and their averages over 1 to this many hops; 0: only the average over one hop",
        low=0,
        high=8,
    )
    counts: str = setting(
        "sketches",
        "counts estimated from sketches, or exact ones, which take n² bits per hop on the CPU",
        choices=("sketches", "exact"),
    )
    permutations: int = setting(128, "hash functions of the MinHash sketches", low=1, high=4096)
    one_hop: bool = setting(
        False, "also use the number of neighbours of one end alone, which reveals removed training edges"
    )
    clip: float = setting(0.0, "largest gradient norm per module; 0: no clipping", low=0.0, high=1e9)

    def build(self, task: GraphTask, seed: int) -> LinkModel:
        """Return a model of sketches, linear maps of the features, and a predictor."""
        from trueedge.methods.pairwise.models.buddy import BuddyModel, BuddyPredictor, PropagatedFeatures
        from trueedge.methods.pairwise.models.sketches import CountedPairs

        inputs = self.make_input(task, seed)
        encoder = PropagatedFeatures(inputs.dim, self.dim, self.feature_hops)
        exact, key = self.counts == "exact", derive(seed, "sketches")
        counted = CountedPairs(task.graph.num_nodes, self.hops, self.permutations, exact, key)
        size, powers = self.hops * (self.hops + 2), len(encoder.powers)
        predictor = BuddyPredictor(size, self.dim, powers, self.label_dropout, self.feature_dropout)
        return BuddyModel(inputs, encoder, predictor, counted, self.one_hop)
