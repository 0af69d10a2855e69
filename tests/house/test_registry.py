from __future__ import annotations

import pkgutil

import pytest

from trueedge.errors import InputError
from trueedge.registry import Registry


def test_an_unknown_name_gets_the_nearest_known_one() -> None:
    known: Registry[int] = Registry("number")
    known.add("seven", 7)
    with pytest.raises(InputError, match="no number is called 'sevn'; did you mean 'seven'"):
        known.get("sevn")
    with pytest.raises(InputError, match="no number is called 7"):
        known.get(7)


def test_a_name_is_taken_once_unless_it_is_the_same_thing() -> None:
    known: Registry[int] = Registry("number")
    known.add("seven", 7)
    with pytest.raises(InputError, match="a number called 'seven' is registered already"):
        known.add("seven", 8)
    assert known.add("seven", 8, same=lambda taken: taken == 7) == 8


def test_a_package_is_walked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    walks = []
    walk = pkgutil.walk_packages
    monkeypatch.setattr(pkgutil, "walk_packages", lambda *given: walks.append(given) or walk(*given))
    known: Registry[int] = Registry("number", "trueedge.kernels.text")
    assert "seven" not in known
    assert known.names() == ()
    assert len(walks) == 1


def test_what_a_test_registers_is_gone_after_it() -> None:
    known: Registry[int] = Registry("number")
    with known.restored():
        known.add("seven", 7)
        assert len(known) == 1
    assert known.values() == ()
