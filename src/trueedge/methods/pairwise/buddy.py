"""BUDDY: counts around a pair, estimated from sketches, and the product of averaged features."""

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
    """How many nodes lie how many hops from both ends, and features averaged over neighbours.

    Counts and averages are those of the graph without the batch's edges: sketches of all nodes are made anew
    for every batch. A pair is read in both directions, and what its counts say is the mean of both.
    """

    name: ClassVar[str] = "buddy"
    title: ClassVar[str] = "BUDDY, counts from subgraph sketches"
    citation: ClassVar[str] = (
        "Chamberlain et al., Graph Neural Networks for Link Prediction with Subgraph Sketching, 2023"
    )
    defaults: ClassVar[Mapping[str, Any]] = {"label_dropout": 0.5, "feature_dropout": 0.5, "hops": 2}

    label_dropout: float = open_setting(
        float, "share of what the counts say that is dropped", low=0.0, high=0.99, search=(0.1, 0.3, 0.5)
    )
    feature_dropout: float = open_setting(
        float, "share of what the features say that is dropped", low=0.0, high=0.99, search=(0.1, 0.3, 0.5)
    )
    hops: int = open_setting(int, "how far from an end nodes are counted", low=1, high=8)
    feature_hops: int = setting(
        0, "features, and their averages over 1 to so many hops; 0: one average alone", low=0, high=8
    )
    counts: str = setting(
        "sketches",
        "counts estimated from sketches, or exact ones, which take n² bits a hop on the processor",
        choices=("sketches", "exact"),
    )
    permutations: int = setting(128, "hash functions of the MinHash sketches", low=1, high=4096)
    one_hop: bool = setting(
        False, "show the number of neighbours of one end alone too; in training it tells that an edge is gone"
    )
    clip: float = setting(0.0, "largest norm of a part's gradient; 0: no clipping", low=0.0, high=1e9)

    def build(self, task: GraphTask, seed: int) -> LinkModel:
        """Sketches of single nodes, linear maps of the features, and the predictor."""
        from trueedge.methods.pairwise.models.buddy import BuddyModel, BuddyPredictor, PropagatedFeatures
        from trueedge.methods.pairwise.models.sketches import CountedPairs

        inputs = self.make_input(task, seed)
        encoder = PropagatedFeatures(inputs.dim, self.dim, self.feature_hops)
        counted = CountedPairs(
            task.graph.num_nodes,
            self.hops,
            self.permutations,
            self.counts == "exact",
            derive(seed, "sketches"),
        )
        predictor = BuddyPredictor(
            self.hops * (self.hops + 2),
            self.dim,
            len(encoder.powers),
            self.label_dropout,
            self.feature_dropout,
        )
        return BuddyModel(inputs, encoder, predictor, counted, self.one_hop)
