"""Every public name is documented, and the API reference has it."""

from __future__ import annotations

import inspect
import re
import sys
from functools import cache
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the names of trueedge.training need torch")

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))
try:
    import api_pages
finally:
    sys.path.remove(str(ROOT / "tools"))

# What docstrings of functions and methods begin with. A new verb is added here, a noun is not.
VERBS = set(
    re.findall(
        r"\w+",
        """
        Add Apply Ask Audit Build Call Certify Check Cluster Combine Compare Compute Corrupt Create
        Delete Divide Draw End Evaluate Find Fit Forget Give Grow Hold Keep Let List Load Log Make
        Measure Note Open Pass Rank Raise Read Recommend Recompute Record Refuse Register Remove
        Replace Rerun Return Run Save Say Score Search Seed Split Take Test Train Turn Update Use
        Verify Warn Weigh Write Yield
        """,
    )
)


@cache
def public():
    """Every public class and function once, by its full name."""
    found = {}
    for room in api_pages.rooms():
        for name, value in api_pages.public(room).items():
            if not any(value is one for one in found.values()):
                found[f"{room}.{name}"] = value
    return found


FUNCTIONS = sorted(name for name, value in public().items() if inspect.isfunction(value))
CLASSES = sorted(name for name, value in public().items() if inspect.isclass(value))


def begins_with_a_verb(function):
    words = re.findall(r"\w+", inspect.getdoc(function) or "")
    return bool(words) and words[0] in VERBS


def undocumented(names, text):
    """The arguments that a docstring does not name, in the singular or plural, as one word or several."""
    said = text.lower()

    def is_said(name):
        forms = {name, name.rstrip("s"), name.replace("_", " ")}
        return any(re.search(rf"\b{re.escape(form.lower())}s?\b", said) for form in forms)

    return [name for name in names if not name.startswith("_") and not is_said(name)]


def arguments(call):
    return [
        one.name
        for one in inspect.signature(call).parameters.values()
        if one.name not in ("self", "cls") and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
    ]


def test_every_function_says_what_it_does_and_names_its_arguments():
    wrong = []
    for name in FUNCTIONS:
        value = public()[name]
        if not begins_with_a_verb(value):
            wrong.append(f"{name} does not begin with a verb: {api_pages.summary(value)}")
        missing = undocumented(arguments(value), inspect.getdoc(value) or "")
        if missing:
            wrong.append(f"{name} does not document {', '.join(missing)}")
    assert not wrong, "\n".join(wrong)


def test_every_class_says_what_it_is_and_names_what_it_is_made_of():
    wrong = []
    for name in CLASSES:
        kind = public()[name]
        docs = [base.__doc__ or "" for base in kind.__mro__ if base.__module__.startswith("trueedge")]
        if not docs[0] or docs[0].startswith(f"{kind.__name__}("):
            wrong.append(f"{name} has no docstring")
        missing = undocumented(api_pages.fields_of(kind), "\n".join(docs))
        if missing:
            wrong.append(f"{name} does not document {', '.join(missing)}")
    assert not wrong, "\n".join(wrong)


def test_every_method_of_a_class_begins_with_a_verb():
    wrong = []
    for name in CLASSES:
        for attribute, member in api_pages.members(public()[name]).items():
            function = api_pages.plain(member)
            is_value = isinstance(member, property) or type(member).__name__ == "cached_property"
            # A property may also be described as a thing: "The number of nodes."
            if not (inspect.getdoc(function) if is_value else begins_with_a_verb(function)):
                wrong.append(f"{name}.{attribute}: {api_pages.summary(function) or 'no docstring'}")
    assert not wrong, "\n".join(wrong)


def test_every_public_name_has_an_entry_and_every_link_has_a_target():
    pages = api_pages.pages()
    anchors = {path: set(re.findall(r"\{ #(\S+) \}", text)) for path, text in pages.items()}
    for room in api_pages.rooms():
        path = f"api/{room.rpartition('.')[2]}.md"
        assert {api_pages.anchor(name) for name in api_pages.public(room)} <= anchors[path], path
    for path, text in pages.items():
        for file, anchor in re.findall(r"\]\((\w+\.md)#([^)\s]+)\)", text):
            assert anchor in anchors[f"api/{file}"], f"{path} links to {file}#{anchor}"


def test_the_site_lists_every_page_of_the_reference():
    listed = set(re.findall(r"\bapi/\w+\.md", (ROOT / "mkdocs.yml").read_text()))
    assert listed == set(api_pages.pages())


def test_sections_of_a_docstring_become_lists():
    given = "Return a rank.\n\nArgs:\n    scores: float (n,),\n        see :func:`ranks`.\n    k: a number."
    page = "Return a rank.\n\n**Arguments**\n\n- `scores`: float (n,), see `ranks`.\n- `k`: a number."
    assert api_pages.markdown(given) == page
