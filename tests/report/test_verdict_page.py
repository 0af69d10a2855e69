"""The verdict's page: the answer first, what makes it doubtful, and every number behind it."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from made_up import record, verdict
from test_records_page import shown
from test_shell import HOSTILE, Reading

from trueedge.report.numbers import signed
from trueedge.report.verdict_page import page, summary
from trueedge.report.verdict_source import command
from trueedge.verdict import Verdict
from trueedge.verdict.suspicions import Suspicion

GRAVE = Suspicion("perfect", "MRR is 100.00: no predictor is that good")
MILD = Suspicion("epoch-limit", "training stopped at its epoch limit", grave=False)


@pytest.fixture(scope="module")
def found() -> Verdict:
    return verdict()


@pytest.fixture(scope="module")
def text(found) -> str:
    return page(found)


def first_screen(text: str) -> str:
    return text.split("<header>")[1].split("</header>")[0]


def test_the_answer_stands_first_without_numbers(found) -> None:
    said = summary(found)
    assert said == (
        "mine beats all 4 baselines under existing; is below ra under heart (k=10); and is below ra and 3"
        " others under degree-corrected. 62 % of its AUC is degree."
    )
    assert said in first_screen(page(found))


def test_every_protocol_has_a_line_with_its_difference_and_a_bar_around_zero(found, text) -> None:
    lines = re.findall(r"<li><b>(.*?)</b>(.*?)</li>", first_screen(text))
    assert [name for name, _ in lines] == [one.protocol for one in found.answers]
    for one, (_, line) in zip(found.answers, lines, strict=True):
        assert f"{signed(one.metric, one.difference)} MRR" in line
        assert f"against {one.best}" in line
        zero = float(re.search(r"M([\d.]+) 0V", line)[1])  # type: ignore[index]
        dot = float(re.search(r'cx="([\d.]+)"', line)[1])  # type: ignore[index]
        assert (dot > zero) == (one.difference > 0)


def test_to_the_right_is_better_where_lower_values_are(found) -> None:
    ranked = replace(found.answers[0], metric="mr", difference=-3.0, low=-4.0, high=-2.0)
    line = first_screen(page(replace(found, answers=(ranked,))))
    assert float(re.search(r'cx="([\d.]+)"', line)[1]) > float(re.search(r"M([\d.]+) 0V", line)[1])  # type: ignore[index]
    assert "−3.00 MR [−4.00, −2.00]" in line


def test_grave_doubts_stand_before_the_lines_and_others_behind() -> None:
    text = first_screen(page(verdict([GRAVE, MILD])))
    assert text.index("Do not trust these scores") < text.index('class="lines"') < text.index("Worth a look")
    assert "On paper, mine beats" in text
    assert 'class="badge ok"' not in text, "nothing is praised that cannot be trusted"
    assert "box" not in first_screen(page(verdict()))


def test_many_doubts_do_not_push_the_answer_away() -> None:
    many = [replace(GRAVE, name=str(place), sentence=f"reason {place}") for place in range(5)]
    text = first_screen(page(verdict(many)))
    assert text.index("Reason 1.") < text.index("3 more") < text.index("Reason 2.")
    assert text.index("Reason 2.") < text.index('class="lines"')


def test_the_row_of_the_model_is_marked_in_every_table(found, text) -> None:
    rows = re.findall(r'<tr class="own"><th[^>]*>(.*?)</th>', text)
    # Once with the headline, once with all other metrics.
    assert rows == ["mine"] * 2 * len(found.tables)
    for one in found.tables:
        for line in one.lines:
            assert f"{100 * line.value:.2f}" in text


def test_a_finding_about_the_benchmark_stands_once_with_its_protocols(text) -> None:
    assert shown(text).count("existing and heart: degree alone reaches an AUC of 0.93.") == 1


def test_checks_that_passed_are_folded_and_others_are_not(text) -> None:
    checks = text.split('id="checks"')[1].split("</section>")[0]
    assert checks.index("half of the pairs tie") < checks.index("<details>") < checks.index("no change")
    assert "1 check passed" in checks


def test_the_command_repeats_protocols_options_and_seeds(found) -> None:
    assert command(found) == (
        "trueedge judge karate MODEL --name mine -p existing,heart,degree-corrected --seeds 4"
        " --option heart.k=10"
    )
    known = replace(
        found, model="katz", records=(record("karate", method="katz", settings={"beta": 0.5}),), dataset="x"
    )
    assert command(known).startswith("trueedge judge DATA katz -p ")
    assert "MODEL stands for your model" in page(found)


def test_names_cannot_do_anything_on_the_page_or_in_a_notebook(found) -> None:
    hostile = replace(found, model=HOSTILE, dataset=HOSTILE, notes=(HOSTILE,), groups=(HOSTILE,))
    read = Reading(page(hostile))
    assert read.count("script") == 1
    assert read.count("img") == 0
    assert read.open == []
    assert Reading(hostile._repr_html_()).count("script") == 0


def test_a_verdict_without_baselines_tables_or_checks_is_a_page(found) -> None:
    bare = replace(
        found, answers=(), tables=(), sliced=(), records=(), check=None, warnings=(), groups=(), advice=()
    )
    text = shown(page(bare))
    assert "mine was evaluated alone: there is no baseline to compare it with." in text
    assert "To repeat it" in text


def test_a_notebook_marks_the_model_and_folds_what_is_behind_the_answer(found) -> None:
    html = found._repr_html_()
    assert html.count("font-weight:bold") == len(found.tables)
    assert html.index("mine beats") < html.index("<table") < html.index("<details>")
    assert "<style" not in html
    assert "Doubts" in verdict([GRAVE])._repr_html_()


def test_a_protocol_that_was_run_is_to_be_compared_with(found) -> None:
    protocol, finding = found.warnings[0]
    easy = replace(finding, advice="Use `-p heart`")
    assert "Compare with the results under heart." in shown(
        page(replace(found, warnings=((protocol, easy),)))
    )
    other = replace(finding, advice="Use `-p triplet`")
    assert "Use -p triplet." in shown(page(replace(found, warnings=((protocol, other),))))
