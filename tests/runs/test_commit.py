"""The commit that a record was computed with."""

from __future__ import annotations

from pathlib import Path

from trueedge.runs.provenance import commit

HASH = "0123456789" * 4


def test_a_branch_is_followed_to_its_commit(tmp_path: Path) -> None:
    heads = tmp_path / ".git" / "refs" / "heads"
    heads.mkdir(parents=True)
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (heads / "main").write_text(f"{HASH}\n")
    assert commit(tmp_path) == HASH


def test_packed_branches_and_single_commits_are_read(tmp_path: Path) -> None:
    folder = tmp_path / ".git"
    folder.mkdir()
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / "packed-refs").write_text(f"# pack-refs\n{HASH} refs/heads/main\n")
    assert commit(tmp_path) == HASH
    other = tmp_path / "other"
    (other / ".git").mkdir(parents=True)
    (other / ".git" / "HEAD").write_text(HASH)
    assert commit(other) == HASH


def test_a_further_working_tree_is_followed(tmp_path: Path) -> None:
    shared, own = tmp_path / "shared", tmp_path / "shared" / "worktrees" / "one"
    (shared / "refs" / "heads").mkdir(parents=True)
    own.mkdir(parents=True)
    (shared / "refs" / "heads" / "one").write_text(HASH)
    (own / "HEAD").write_text("ref: refs/heads/one")
    (own / "commondir").write_text("../..")
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {own}\n")
    assert commit(tree) == HASH


def test_what_is_no_clone_has_none(tmp_path: Path) -> None:
    assert commit(tmp_path) == ""
    (tmp_path / "x" / ".git").mkdir(parents=True)
    (tmp_path / "x" / ".git" / "HEAD").write_text("nonsense")
    assert commit(tmp_path / "x") == ""
