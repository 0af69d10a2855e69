"""What the audit finds in published recommendation data."""

from __future__ import annotations

import pytest

from trueedge.audit import audit

pytestmark = pytest.mark.rotating(4, group="published audits")


@pytest.mark.data("kgrec/ml-100k/ml-100k.link")
def test_triples_of_ml_100k_are_attached_to_other_movies() -> None:
    """RecBole's links have the ids of MovieLens-1M."""
    found = audit("ml-100k-kg", split="time")
    lift = found["knowledge-lift"]
    assert lift.verdict == "broken"
    assert lift.number == pytest.approx(1.0, abs=0.03)
    assert found["inverse-triples"].number == pytest.approx(0.42, abs=0.005)
    assert found["future-of-users"].verdict == "ok"


@pytest.mark.data("kgrec/ml-100k/ml-100k.link")
def test_a_random_split_of_ml_100k_shows_the_future() -> None:
    found = audit("ml-100k-kg")
    assert found["future-of-users"].verdict == "broken"
    assert found["future-of-users"].number > 0.95


@pytest.mark.data("kgrec/lastfm/user_artists.dat")
def test_ids_of_last_fm_are_better_than_popularity() -> None:
    found = audit("lastfm-kg")["item-ids"]
    assert found.verdict == "broken"
    assert found.numbers["nearest item ids"] > found.numbers["popularity"] > 0.08


@pytest.mark.data("kgrec/ml-1m/train.txt")
def test_triples_of_ml_1m_tell_which_movies_are_seen_together() -> None:
    found = audit("ml-1m-kg")
    assert found["knowledge-lift"].verdict == "ok"
    assert found["knowledge-lift"].number > 1.5
    assert found["shortcut-popularity"].verdict == "look"


@pytest.mark.data("kgrec/amazon-book/train.txt")
def test_users_of_amazon_book_have_few_items_and_telling_ids() -> None:
    found = audit("amazon-book")
    assert found["short-histories"].verdict == "look"
    assert found["user-ids"].number > 1.4
    assert found.skipped["knowledge-lift"] == "there is no knowledge graph"
