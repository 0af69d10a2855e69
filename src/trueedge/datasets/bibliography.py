"""A generated bibliography: a small typed graph, so that everything can be tried without a download."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.datasets.dataset import Dataset, register
from trueedge.datasets.random_graphs import graph_name
from trueedge.datasets.synthetic import Setting, parse_parameters, whole_number
from trueedge.errors import whole_number as check_whole
from trueedge.graph.hgb_files import HgbData
from trueedge.graph.typed import HeteroGraph, Labels, Relation
from trueedge.graph.typed_validation import sorted_edges
from trueedge.randomness import generator

FIELDS = ("databases", "data mining", "machine learning", "information retrieval")
SHARES = (0.32, 0.28, 0.24, 0.16)
TOPICS = 4  # of a field
PAPERS = 2  # for each author
TERMS, VENUES, WORDS = 12, 4, 12  # of a topic, of a field, of a topic
GENERAL_TERMS, GENERAL_WORDS = 48, 108
WORDS_IN_PAPER, AUTHOR_FEATURES = 8, 16
# How often a choice follows the group, the topic or the field; otherwise it is arbitrary.
SAME_TOPIC, SAME_FIELD = 0.6, 0.2
GROUP_COAUTHOR, TOPIC_COAUTHOR = 0.85, 0.05
GROUP_CITED, TOPIC_CITED = 0.5, 0.3
LIKE_TERM, LIKE_VENUE, LIKE_WORD = 0.5, 0.6, 0.2
GROUP_SIZE = 4
WRONG_LABELS, SIGNAL = 0.04, 0.35
MOST_AUTHORS = 1_000_000

Numbers = NDArray[np.int64]


def bibliography(authors: int = 300, seed: int = 0) -> HeteroGraph:
    """Generate authors, papers, terms and venues; the class of an author is a field of research.

    A field has several topics, and groups of authors work on each. Authors mostly write on their topic, with
    others of their group. Papers mostly have terms and words of their topic, are cited by later papers of the
    group or on the topic, and appear in a venue of the field. A few authors have a random class. Papers have
    sparse features (words), authors dense ones, terms and venues none.

    Args:
        authors: the number of authors; there are twice as many papers.
        seed: the seed.
    """
    count = check_whole("authors", "bibliography", authors, 20, MOST_AUTHORS)
    rng = generator(seed, "bibliography", count)
    fields = rng.choice(len(FIELDS), count, p=SHARES)
    topics = fields * TOPICS + rng.integers(0, TOPICS, count)
    lead, about = _papers(rng, topics)
    papers, every = len(about), len(FIELDS) * TOPICS
    starts = np.cumsum([0, count, papers, every * TERMS + GENERAL_TERMS, len(FIELDS) * VENUES]).astype(
        np.int64
    )
    number = np.arange(papers)
    groups = _groups(topics)
    written = _written(rng, lead, about, topics, groups)
    used = [(number, _own_or_any(rng, about, TERMS, int(starts[3] - starts[2]), LIKE_TERM)) for _ in range(2)]
    shown = [(number, _own_or_any(rng, about // TOPICS, VENUES, len(FIELDS) * VENUES, LIKE_VENUE))]
    listed = {
        Relation("author-paper", 0, 1): written,
        Relation("paper-term", 1, 2): used,
        Relation("paper-venue", 1, 3): shown,
        Relation("paper-cites-paper", 1, 1): [_cited(rng, about, groups[lead]) for _ in range(2)],
    }
    edges = []
    for (_, source, target), parts in listed.items():
        pairs = np.concatenate([np.column_stack(part) for part in parts])
        edges.append(sorted_edges(pairs + [starts[source], starts[target]], int(starts[-1]))[0])
    wrong = rng.random(count) < WRONG_LABELS
    classes = np.where(wrong, rng.integers(0, len(FIELDS), count), fields).astype(np.int32)
    return HeteroGraph(
        node_types=("author", "paper", "term", "venue"),
        starts=starts,
        relations=tuple(listed),
        edges=tuple(edges),
        features=(_of_authors(rng, topics), _of_papers(rng, about), None, None),
        labels=Labels(0, np.arange(count, dtype=np.int32), classes, FIELDS),
        name=graph_name("bibliography", authors=count, seed=seed),
    )


def _papers(rng: np.random.Generator, topics: Numbers) -> tuple[Numbers, Numbers]:
    """Return the first author and the topic of each paper; every author is the first of one."""
    count = len(topics)
    active = (1 + np.arange(count)) ** -0.5
    more = rng.choice(count, (PAPERS - 1) * count, p=active / active.sum())
    lead = rng.permutation(np.concatenate([np.arange(count), rng.permutation(count)[more]]))
    kind, field = rng.random(len(lead)), topics[lead] // TOPICS
    near = field * TOPICS + rng.integers(0, TOPICS, len(lead))
    arbitrary = rng.integers(0, len(FIELDS) * TOPICS, len(lead))
    same = [kind < SAME_TOPIC, kind < SAME_TOPIC + SAME_FIELD]
    return lead, np.select(same, [topics[lead], near], arbitrary)


def _written(
    rng: np.random.Generator, lead: Numbers, about: Numbers, topics: Numbers, groups: Numbers
) -> list[tuple[Numbers, Numbers]]:
    """Return authors and their papers: the first author, and one to three others."""
    paper, others = np.arange(len(lead)), rng.integers(1, 4, len(lead))
    found = [(lead, paper)]
    for place in range(3):
        kind = rng.random(len(lead))
        mate, _ = _peer(rng, groups, groups[lead])
        near, there = _peer(rng, topics, about)
        same = [kind < GROUP_COAUTHOR, (kind < GROUP_COAUTHOR + TOPIC_COAUTHOR) & there]
        chosen = np.select(same, [mate, near], rng.integers(0, len(topics), len(lead)))
        found.append((chosen[place < others], paper[place < others]))
    return found


def _groups(topics: Numbers) -> Numbers:
    """Return the research group of each author: a few authors who work on one topic."""
    order = np.argsort(topics, kind="stable")
    ranks = np.arange(len(topics)) - np.searchsorted(topics[order], topics[order])
    found = np.empty(len(topics), dtype=np.int64)
    found[order] = topics[order] * len(topics) + ranks // GROUP_SIZE
    return found


def _peer(rng: np.random.Generator, keys: Numbers, wanted: Numbers) -> tuple[Numbers, NDArray[np.bool_]]:
    """Return an item with each wanted key, and whether there is one."""
    order = np.argsort(keys, kind="stable")
    first, last = (np.searchsorted(keys[order], wanted, side) for side in ("left", "right"))
    place = first + (rng.random(len(wanted)) * (last - first)).astype(np.int64)
    return order[np.minimum(place, len(order) - 1)], last > first


def _own_or_any(rng: np.random.Generator, group: Numbers, size: int, total: int, share: float) -> Numbers:
    """Return one item for each group: one of its ``size`` own, or any of ``total``."""
    own = group * size + rng.integers(0, size, len(group))
    return np.where(rng.random(len(group)) < share, own, rng.integers(0, total, len(group)))


def _cited(rng: np.random.Generator, about: Numbers, groups: Numbers) -> tuple[Numbers, Numbers]:
    """Return papers and an earlier paper that each cites: of its group, on its topic, or any."""
    number, kind = np.arange(len(about)), rng.random(len(about))
    (own, first), (near, second) = _earlier(rng, groups), _earlier(rng, about)
    same = [(kind < GROUP_CITED) & first, (kind < GROUP_CITED + TOPIC_CITED) & second]
    cited = np.select(same, [own, near], (rng.random(len(about)) * number).astype(np.int64))
    return number[1:], cited[1:]


def _earlier(rng: np.random.Generator, keys: Numbers) -> tuple[Numbers, NDArray[np.bool_]]:
    """Return an earlier item with the key of each item, and whether there is one."""
    order = np.argsort(keys, kind="stable")
    place = np.empty(len(keys), dtype=np.int64)
    place[order] = np.arange(len(keys))
    first = np.searchsorted(keys[order], keys)
    return order[first + (rng.random(len(keys)) * (place - first)).astype(np.int64)], place > first


def _of_papers(rng: np.random.Generator, about: Numbers) -> Any:
    """Return the words of papers, a sparse float32 matrix."""
    from scipy.sparse import csr_array

    total = len(FIELDS) * TOPICS * WORDS + GENERAL_WORDS
    words = [_own_or_any(rng, about, WORDS, total, LIKE_WORD) for _ in range(WORDS_IN_PAPER)]
    rows = np.tile(np.arange(len(about)), WORDS_IN_PAPER)
    pairs, _ = sorted_edges(np.column_stack([rows, np.concatenate(words)]), max(total, len(about)))
    ones = np.ones(len(pairs), dtype=np.float32)
    return csr_array((ones, (pairs[:, 0], pairs[:, 1])), shape=(len(about), total))


def _of_authors(rng: np.random.Generator, topics: Numbers) -> NDArray[np.float32]:
    """Return noisy positions of authors, float32 (authors, 16), around the position of their topic."""
    centers = rng.standard_normal((len(FIELDS) * TOPICS, AUTHOR_FEATURES))
    noise = rng.standard_normal((len(topics), AUTHOR_FEATURES))
    return (SIGNAL * centers[topics] + noise).astype(np.float32)


_SETTINGS: dict[str, Setting] = {"authors": whole_number, "seed": whole_number}


def _configure(text: str) -> Dataset:
    given: dict[str, Any] = {"authors": 300, "seed": 0, **parse_parameters("bibliography", text, _SETTINGS)}
    read = partial(bibliography, **given)
    name = graph_name("bibliography", **given)
    return replace(_CARD, name=name, read=read, read_typed=lambda: HgbData(read()), configure=None)


_CARD = register(
    Dataset(
        name="bibliography",
        family="bibliography",
        title="authors, papers, terms and venues; the class of an author is a field of research; settings: "
        + ", ".join(_SETTINGS),
        num_nodes=None,
        num_edges=None,
        num_features=AUTHOR_FEATURES + len(FIELDS) * TOPICS * WORDS + GENERAL_WORDS,
        num_types=4,
        num_relations=4,
        licence="none (generated)",
        source="generated",
        citation="none (generated by trueedge)",
        read=bibliography,
        data="typed",
        read_typed=lambda: HgbData(bibliography()),
        protocol="node-classification",
        configure=_configure,
    )
)
