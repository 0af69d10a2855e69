"""A generated bookshop: readers, books and what is known about books, to try recommendation right away."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.datasets.dataset import Dataset, register
from trueedge.datasets.random_graphs import graph_name
from trueedge.datasets.synthetic import Setting, parse_parameters, whole_number
from trueedge.errors import InputError
from trueedge.errors import whole_number as check_whole
from trueedge.graph.interactions import Interactions
from trueedge.graph.knowledge import KnowledgeGraph
from trueedge.randomness import generator

GENRES = ("crime", "fantasy", "romance", "history", "science", "travel", "poetry", "cooking")
RELATIONS = ("written by", "has genre", "part of", "published by", "writes")
BOOKS_AN_AUTHOR, BOOKS_A_PUBLISHER, BOOKS_IN_SERIES = 4, 20, 4
# How often a book has its author's genre, is part of a series, and comes from a publisher of its genre.
OWN_GENRE, IN_SERIES, OWN_PUBLISHER = 0.85, 0.5, 0.8
# How much more likely a reader takes a book by taste, as powers of e; and how popularity falls with its rank.
LIKED_GENRE, LIKED_AUTHOR, LIKED_SERIES, POPULARITY = 2.0, 2.0, 1.0, 0.6
GENRES_LIKED, AUTHORS_LIKED, SERIES_LIKED = 2, 4, 0.3
FEWEST, USUAL, MOST = 6, 16.0, 0.25  # books of a reader: at least, the median, and as a share of all books
YEARS, DAY = 3, 86400.0
START = 1_600_000_000.0
BLOCK = 1 << 22
MOST_USERS, MOST_ITEMS = 1_000_000, 100_000

Numbers = NDArray[np.int64]


def bookshop(users: int = 300, items: int = 200, seed: int = 0) -> Interactions:
    """Generate readers, books, and a knowledge graph of authors, genres, series and publishers.

    Readers like a few genres, authors and series, and mostly take books of these; some books are far more
    popular than others. A reader takes books from their release on, and rates those of liked authors and
    genres higher. The knowledge graph says who wrote a book, its genre, its series and its publisher, and
    which genre an author writes.

    Args:
        users: the number of readers.
        items: the number of books.
        seed: the seed.
    """
    count = check_whole("users", "bookshop", users, 10, MOST_USERS)
    books = check_whole("items", "bookshop", items, 40, MOST_ITEMS)
    if count * books > 100 * BLOCK:
        raise InputError(f"bookshop: {count} users and {books} items are too many: lower one of them")
    rng = generator(seed, "bookshop", count, books)
    name = graph_name("bookshop", users=count, items=books, seed=seed)
    shelf = _Shelf.made(rng, books)
    size = max(1, BLOCK // books)
    parts = [_taken(rng, shelf, first, min(size, count - first)) for first in range(0, count, size)]
    reader, book, liking = (np.concatenate(column) for column in zip(*parts, strict=True))
    noise = rng.normal(0.0, 0.7, len(book))
    return Interactions.from_pairs(
        np.column_stack([reader, book]),
        count,
        books,
        users=[f"reader {number}" for number in range(count)],
        items=[f"book {number}" for number in range(books)],
        ratings=np.clip(np.rint(2.6 + 0.6 * liking + noise), 1, 5),
        times=_times(rng, reader, shelf.released[book]),
        knowledge=shelf.knowledge(name),
        name=name,
    )


@dataclass(frozen=True, eq=False)
class _Shelf:
    """The books of the shop.

    Attributes:
        author: int64 (books,).
        genre: int64 (books,).
        series: int64 (books,), -1 for none.
        publisher: int64 (books,).
        genre_of_author: int64 (authors,).
        released: float64 (books,), when each came out, from 0 to 1.
        popularity: float64 (books,), the logarithm of how often each is taken.
    """

    author: Numbers
    genre: Numbers
    series: Numbers
    publisher: Numbers
    genre_of_author: Numbers
    released: NDArray[np.float64]
    popularity: NDArray[np.float64]

    @classmethod
    def made(cls, rng: np.random.Generator, books: int) -> _Shelf:
        authors = max(len(GENRES), books // BOOKS_AN_AUTHOR)
        genre_of_author = rng.permutation(np.arange(authors) % len(GENRES))
        productive = 1.0 / (1 + np.arange(authors)) ** 0.5
        author = rng.choice(authors, books, p=productive / productive.sum())
        genre = np.where(
            rng.random(books) < OWN_GENRE, genre_of_author[author], rng.integers(0, len(GENRES), books)
        )
        publishers = max(2, books // BOOKS_A_PUBLISHER)
        own = (genre + len(GENRES) * rng.integers(0, publishers, books)) % publishers
        publisher = np.where(rng.random(books) < OWN_PUBLISHER, own, rng.integers(0, publishers, books))
        # The books of an author that are in a series follow each other in it.
        inside = np.flatnonzero(rng.random(books) < IN_SERIES)
        order = inside[np.argsort(author[inside], kind="stable")]
        place = np.arange(len(order)) - np.searchsorted(author[order], author[order])
        key = author[order] * books + place // BOOKS_IN_SERIES
        series = np.full(books, -1, dtype=np.int64)
        series[order] = np.unique(key, return_inverse=True)[1].reshape(-1)
        rank = rng.permutation(books)
        return cls(
            author.astype(np.int64),
            genre.astype(np.int64),
            series,
            publisher.astype(np.int64),
            genre_of_author.astype(np.int64),
            rng.random(books),
            -POPULARITY * np.log1p(rank),
        )

    def knowledge(self, name: str) -> KnowledgeGraph:
        """Return what is known about the books, which are the first entities."""
        books, authors = len(self.author), len(self.genre_of_author)
        number = np.arange(books)
        counts = {"author": authors, "series": self.series.max() + 1, "publisher": self.publisher.max() + 1}
        names = [f"book {one}" for one in range(books)]
        start = {"genre": books}
        names += GENRES
        for kind, count in counts.items():
            start[kind] = len(names)
            names += [f"{kind} {one}" for one in range(count)]
        listed = self.series >= 0
        columns = [
            (number, start["author"] + self.author),
            (number, start["genre"] + self.genre),
            (number[listed], start["series"] + self.series[listed]),
            (number, start["publisher"] + self.publisher),
            (start["author"] + np.arange(authors), start["genre"] + self.genre_of_author),
        ]
        triples = [
            np.column_stack([heads, np.full(len(heads), relation), tails])
            for relation, (heads, tails) in enumerate(columns)
        ]
        return KnowledgeGraph.from_triples(
            np.concatenate(triples), entities=names, relations=RELATIONS, name=name
        )


def _taken(
    rng: np.random.Generator, shelf: _Shelf, first: int, users: int
) -> tuple[Numbers, Numbers, NDArray[np.float64]]:
    """Return some readers, the books they take, and how much they like each: 0 to 3."""
    books = len(shelf.author)
    genres = _highest(rng.random((users, len(GENRES))), np.full(users, GENRES_LIKED))
    # Authors of liked genres are liked most.
    near = np.where(genres[:, shelf.genre_of_author], 3.0, 0.0)
    gumbel = rng.gumbel(size=near.shape)
    authors = _highest(near + gumbel, np.full(users, min(AUTHORS_LIKED, near.shape[1])))
    series = rng.random((users, int(shelf.series.max()) + 2)) < SERIES_LIKED
    series[:, -1] = False  # books without a series
    by_genre, by_author = genres[:, shelf.genre], authors[:, shelf.author]
    by_series = series[:, shelf.series] & (by_genre | by_author)
    taste = LIKED_GENRE * by_genre + LIKED_AUTHOR * by_author + LIKED_SERIES * by_series
    score = shelf.popularity + taste + rng.gumbel(size=(users, books))
    most = max(FEWEST, int(MOST * books))
    counts = np.clip(np.rint(rng.lognormal(np.log(USUAL), 0.5, users)), FEWEST, most).astype(np.int64)
    reader, book = np.nonzero(_highest(score, counts))
    liking = by_genre.astype(np.float64) + by_author + by_series
    return first + reader, book, liking[reader, book]


def _highest(scores: NDArray[np.float64], counts: Numbers) -> NDArray[np.bool_]:
    """Return the highest scores of each row, so many as the counts say."""
    order = np.argsort(-scores, axis=1, kind="stable")
    place = np.empty_like(order)
    np.put_along_axis(place, order, np.arange(scores.shape[1])[None, :], axis=1)
    return place < counts[:, None]


def _times(rng: np.random.Generator, reader: Numbers, released: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return when each book was taken, in seconds: after it came out and the reader first came."""
    came = rng.random(int(reader.max()) + 1)[reader] * 0.7
    from_then = np.maximum(came, released)
    days = np.rint((from_then + (1.0 - from_then) * rng.random(len(reader))) * 365 * YEARS)
    return START + DAY * days


_SETTINGS: dict[str, Setting] = {"users": whole_number, "items": whole_number, "seed": whole_number}


def _configure(text: str) -> Dataset:
    given: dict[str, Any] = {
        "users": 300,
        "items": 200,
        "seed": 0,
        **parse_parameters("bookshop", text, _SETTINGS),
    }
    sizes = {"num_users": given["users"], "num_items": given["items"]}
    name = graph_name("bookshop", **given)
    return replace(_CARD, name=name, read=partial(bookshop, **given), configure=None, **sizes)


_CARD = register(
    Dataset(
        name="bookshop",
        family="bookshop",
        title="readers and books, with authors, genres, series and publishers; an interaction is reading;"
        " settings: " + ", ".join(_SETTINGS),
        num_nodes=None,
        num_edges=None,
        num_features=0,
        num_users=300,
        num_items=200,
        num_relations=len(RELATIONS),
        licence="none (generated)",
        source="generated",
        citation="none (generated by trueedge)",
        read=bookshop,
        data="interactions",
        protocol="full-ranking",
        configure=_configure,
    )
)
