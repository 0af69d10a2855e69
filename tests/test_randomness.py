"""Seeds: ordinary ones keep their numbers, and secret ones keep all their bits."""

from __future__ import annotations

import numpy as np
import pytest

from trueedge.errors import InputError
from trueedge.randomness import derive, derived_seed, generator, is_secret, secret_seed

KEY = bytes(range(32))


def test_ordinary_seeds_have_the_numbers_of_earlier_versions() -> None:
    assert derive(0, "a") == 140742745180244919
    assert derived_seed(0, "a") == derive(0, "a")
    assert not is_secret(2**64)
    words = generator(7, "split", "ratio").bit_generator.random_raw(2)
    assert words.tolist() == np.random.PCG64(derive(7, "split", "ratio")).random_raw(2).tolist()


def test_every_bit_of_a_key_changes_every_stream() -> None:
    number = int.from_bytes(KEY, "little")
    found = {tuple(generator(secret_seed(KEY), "x").bit_generator.random_raw(4).tolist())}
    nested = {derived_seed(secret_seed(KEY), "test")}
    for bit in range(256):
        seed = secret_seed((number ^ (1 << bit)).to_bytes(32, "little"))
        found.add(tuple(generator(seed, "x").bit_generator.random_raw(4).tolist()))
        nested.add(derived_seed(seed, "test"))
    assert len(found) == len(nested) == 257


def test_a_seed_derived_from_a_secret_one_has_as_many_bits() -> None:
    seed = secret_seed(KEY)
    other = derived_seed(seed, "test")
    assert is_secret(seed)
    assert is_secret(other)
    assert seed.bit_length() == other.bit_length() == 257
    # Seeds that differ in high bits alone differ.
    assert derived_seed(seed ^ (1 << 255), "test") != other


def test_the_state_behind_a_secret_stream_has_more_bits_than_its_seed() -> None:
    state = generator(secret_seed(KEY), "x").bit_generator.state
    assert state["bit_generator"] == "Philox"
    assert len(state["state"]["key"]) == 2
    assert len(state["state"]["counter"]) == 4
    assert state["state"]["counter"].all()


def test_a_short_key_is_refused() -> None:
    with pytest.raises(InputError, match="a secret key has 32 bytes, got 8"):
        secret_seed(bytes(8))
