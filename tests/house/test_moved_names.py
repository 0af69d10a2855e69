"""Documented names of version 0.1 work for one more version, with a warning."""

from __future__ import annotations

import subprocess
import sys

import pytest

from trueedge import moved


@pytest.mark.parametrize("old", sorted(moved.MODULES))
def test_a_module_that_moved_is_found_with_a_warning(old: str) -> None:
    code = (
        f"import warnings, importlib\n"
        f"with warnings.catch_warnings(record=True) as seen:\n"
        f"    warnings.simplefilter('always')\n"
        f"    module = importlib.import_module({old!r})\n"
        f"assert module is importlib.import_module({moved.MODULES[old]!r})\n"
        f"assert module.__spec__.name == {moved.MODULES[old]!r}\n"
        f"print([str(one.message) for one in seen if one.category is DeprecationWarning])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert f"{old} is now {moved.MODULES[old]}" in done.stdout


def test_a_name_that_moved_to_another_room_is_found_with_a_warning() -> None:
    from trueedge import results, runs

    with pytest.warns(DeprecationWarning, match=r"trueedge\.results\.Cell is now trueedge\.runs\.Cell"):
        assert results.Cell is runs.Cell
    with pytest.raises(AttributeError, match="no attribute 'Banana'"):
        _ = results.Banana


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_workers_of_version_0_1_still_run_cells(tmp_path) -> None:
    import trueedge as te
    from trueedge import results

    cell = results.Cell("karate", "existing", te.methods.create("cn"))
    with results.Workers(1, te.Store(tmp_path)) as several:
        ((place, outcome),) = several.run([cell])
    assert (place, outcome.fresh) == (0, True)
    assert len(te.Store(tmp_path)) == 1
