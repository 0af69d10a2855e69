"""The report in a real browser: it sorts, it fits, it can be read, and it asks nobody for anything."""

from __future__ import annotations

from pathlib import Path

import pytest
from chromium import Browser, Window
from seeing import contrast

WIDTHS = pytest.mark.parametrize("width", [360, 768, 1280])
COLOURS = pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
# The first leaderboard, and how its numbers read from top to bottom.
TABLE = "#results table"
COLUMN = """(column) => [...document.querySelectorAll("#results table")][0].tBodies[0].rows
    .length && [...document.querySelector("#results table").tBodies[0].rows]
    .map(row => row.cells[column].textContent)"""
# Every element with text of its own: its colour, and the first background behind it that is not see-through.
TEXTS = """(() => {
    const solid = colour => !/rgba\\(.*, 0\\)|transparent/.test(colour);
    const found = {};
    for (const one of document.querySelectorAll("body *")) {
        const own = [...one.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
        if (!own || !one.getClientRects().length || ["SCRIPT", "title"].includes(one.tagName)) continue;
        const style = getComputedStyle(one), svg = one.closest("svg");
        let behind = one;
        while (behind && !solid(getComputedStyle(behind).backgroundColor)) behind = behind.parentElement;
        const back = getComputedStyle(behind || document.body).backgroundColor;
        const ink = svg ? style.fill : style.color;
        found[ink + "|" + back] = one.tagName + " " + one.textContent.trim().slice(0, 40);
    }
    return found;
})()"""


# Every table is shown and every fold is open.
OPEN = "document.querySelectorAll('details').forEach(one => { one.hidden = false; one.open = true; })"


def column(window: Window, place: int) -> list[str]:
    return list(window.run(f"({COLUMN})({place})"))


def numbers(texts: list[str]) -> list[float]:
    return [float(text.split()[0]) for text in texts]


@pytest.fixture
def window(browser: Browser, report_file: Path) -> Window:
    return browser.open(report_file)


def test_nothing_goes_wrong_and_nothing_is_asked_for(window: Window, report_file: Path) -> None:
    window.click("button.theme")
    window.click(f"{TABLE} th:nth-child(1) button")
    assert window.complaints == []
    assert window.requests == [report_file.resolve().as_uri()]


def test_the_page_sees_a_fault_when_there_is_one(browser: Browser, tmp_path: Path) -> None:
    page = tmp_path / "faulty.html"
    page.write_text("<script>nonsense()</script><img src='missing.png'>")
    faulty = browser.open(page)
    assert any("nonsense" in complaint for complaint in faulty.complaints)
    assert any(address.endswith("missing.png") for address in faulty.requests)


def test_a_click_sorts_and_another_turns_the_order_around(window: Window) -> None:
    head = f"{TABLE} th:nth-child(2)"
    best_first = numbers(column(window, 1))
    assert best_first == sorted(best_first, reverse=True)
    assert window.run(f"document.querySelector('{head}').getAttribute('aria-sort')") == "descending"
    window.click(f"{head} button")
    assert numbers(column(window, 1)) == sorted(best_first)
    assert window.run(f"document.querySelector('{head}').getAttribute('aria-sort')") == "ascending"
    window.click(f"{head} button")
    assert numbers(column(window, 1)) == best_first


def test_whole_rows_move_and_none_is_lost(window: Window) -> None:
    rows = "[...document.querySelector('#results table').tBodies[0].rows].map(row => row.textContent)"
    before = window.run(rows)
    window.click(f"{TABLE} th:nth-child(1) button")
    after = window.run(rows)
    assert after != before
    assert sorted(after) == sorted(before)
    names = column(window, 0)
    assert names == sorted(names)


@pytest.mark.parametrize(("key", "text"), [("Enter", "\r"), (" ", " ")])
def test_the_keyboard_sorts_too(window: Window, key: str, text: str) -> None:
    before = column(window, 0)
    window.run(f"document.querySelector('{TABLE} th:nth-child(1) button').focus()")
    window.press(key, text)
    assert column(window, 0) == sorted(before)
    window.press(key, text)
    assert column(window, 0) == sorted(before, reverse=True)


def test_the_tab_key_reaches_heads_and_boxes_that_scroll(window: Window) -> None:
    window.run("document.querySelector('#results .scroll').focus()")
    window.press("Tab", "\t")
    assert window.run("document.activeElement.closest('th') !== null")


def test_p_values_and_times_are_sorted_by_what_they_mean(window: Window) -> None:
    script = """(() => {
        const table = [...document.querySelectorAll("#results details table")]
            .find(one => one.tHead.textContent.includes("p (Holm)"));
        const place = [...table.tHead.rows[0].cells].findIndex(one => one.textContent === "p (Holm)");
        table.tHead.rows[0].cells[place].querySelector("button").click();
        return [...table.tBodies[0].rows].map(row => Number(row.cells[place].dataset.sort));
    })()"""
    values = window.run(script)
    assert len(values) > 3
    assert values == sorted(values, reverse=True)
    times = """(() => {
        const fold = [...document.querySelectorAll("#results summary")]
            .find(one => one.textContent === "Time and memory").parentElement;
        const table = fold.querySelector("table");
        table.tHead.rows[0].cells[1].querySelector("button").click();
        return [...table.tBodies[0].rows].map(row => Number(row.cells[1].dataset.sort));
    })()"""
    seconds = window.run(times)
    assert seconds == sorted(seconds, reverse=True)


@pytest.mark.rotating(1)
@WIDTHS
def test_the_page_never_scrolls_sideways(browser: Browser, report_file: Path, width: int) -> None:
    shown = browser.open(report_file, width)
    shown.run(OPEN)
    assert shown.run("document.documentElement.scrollWidth") <= width
    wide = """[...document.querySelectorAll("main *")].filter(one =>
        one.getBoundingClientRect().right > innerWidth + 1 && !one.closest(".scroll, .picture"))
        .map(one => one.outerHTML.slice(0, 90))"""
    assert shown.run(wide) == []


def test_on_a_phone_tables_scroll_in_their_own_box(browser: Browser, report_file: Path) -> None:
    phone = browser.open(report_file, 360, 740)
    box = "document.querySelector('#results .scroll')"
    assert phone.run(f"{box}.scrollWidth > {box}.clientWidth")
    first = f"{TABLE} tbody th"
    before = phone.run(f"document.querySelector('{first}').getBoundingClientRect().left")
    phone.run(f"{box}.scrollLeft = 120")
    assert phone.run(f"document.querySelector('{first}').getBoundingClientRect().left") == before


@pytest.mark.rotating(1)
@COLOURS
def test_every_text_can_be_read(browser: Browser, report_file: Path, dark: bool) -> None:
    shown = browser.open(report_file, dark=dark)
    shown.run(OPEN)
    found = shown.run(TEXTS)
    assert len(found) >= 6
    for pair, where in found.items():
        ink, back = pair.split("|")
        assert contrast(ink, back) >= 4.5, (where, ink, back)


@pytest.mark.rotating(1)
@COLOURS
def test_the_system_decides_on_light_or_dark_until_the_reader_does(
    browser: Browser, report_file: Path, dark: bool
) -> None:
    back = "getComputedStyle(document.body).backgroundColor"
    shown = browser.open(report_file, dark=dark)
    first = shown.run(back)
    white = contrast(first, "#ffffff") < 2
    assert white != dark
    shown.click("button.theme")
    second = shown.run(back)
    assert (contrast(second, "#ffffff") < 2) == dark
    shown.reload()
    assert shown.run(back) == second
    shown.click("button.theme")
    assert shown.run(back) == first


@pytest.mark.rotating(1)
@COLOURS
def test_figures_are_visible(browser: Browser, report_file: Path, dark: bool) -> None:
    shown = browser.open(report_file, dark=dark)
    shown.run(OPEN)
    boxes = shown.run(
        """[...document.querySelectorAll("figure svg")].filter(one => one.checkVisibility()).map(one => {
        const box = one.getBoundingClientRect();
        const marks = one.querySelectorAll("path, rect, circle").length;
        return [box.width, box.height, marks, one.getAttribute("aria-label").length];
    })"""
    )
    assert len(boxes) > 15
    for width, height, marks, told in boxes:
        assert width > 300
        assert height > 60
        assert marks > 1
        assert told > 20


@pytest.mark.rotating(1)
@WIDTHS
def test_no_text_of_a_figure_is_cut_off(browser: Browser, report_file: Path, width: int) -> None:
    shown = browser.open(report_file, width)
    shown.run(OPEN)
    cut = shown.run(
        """[...document.querySelectorAll("figure svg")].flatMap(svg => {
        const frame = svg.getBoundingClientRect();
        return [...svg.querySelectorAll("text")].filter(text => {
            const box = text.getBoundingClientRect();
            return box.left < frame.left - 2 || box.right > frame.right + 2 || box.bottom > frame.bottom + 2
                || box.top < frame.top - 2;
        }).map(text => svg.getAttribute("aria-label").slice(0, 40) + ": " + text.textContent);
    })"""
    )
    assert cut == []


def test_a_name_with_markup_in_it_is_shown_as_it_is(window: Window) -> None:
    assert window.run("document.body.textContent.includes('a method with <b>a long</b> name')")
    assert window.run("document.querySelectorAll('td b, th b').length") == 0


def test_without_scripts_everything_is_still_there(browser: Browser, report_file: Path) -> None:
    still = browser.open(report_file)
    still.call("Emulation.setScriptExecutionDisabled", value=True)
    still.reload()
    assert still.run("document.querySelectorAll('#results tbody tr').length") > 5
    assert still.run("document.querySelector('button.theme').hidden")
    assert still.run("getComputedStyle(document.querySelector('.chooser')).display") == "none"
    folds = "[...document.querySelectorAll('details.where')]"
    assert still.run(f"{folds}.length > 1 && {folds}.every(one => one.checkVisibility() && !one.open)")


def shown_tables(window: Window) -> list[str]:
    """The names of the tables of which something is shown."""
    script = (
        "[...document.querySelectorAll('details.where')].filter(one => one.checkVisibility() && one.open)"
    )
    return list(window.run(f"{script}.map(one => one.querySelector('h3').textContent)"))


def test_the_selector_shows_one_table_at_a_time(window: Window) -> None:
    names = window.run("[...document.querySelectorAll('#chosen option')].map(one => one.textContent)")
    assert shown_tables(window) == [names[0]]
    window.run(
        """(() => {
        const select = document.querySelector("#chosen");
        select.selectedIndex = 2;
        select.dispatchEvent(new Event("change"));
    })()"""
    )
    assert shown_tables(window) == [names[2]]
    window.reload()
    assert shown_tables(window) == [names[2]], "the address keeps the choice"
    window.run(
        """(() => {
        const select = document.querySelector("#chosen");
        select.value = "";
        select.dispatchEvent(new Event("change"));
    })()"""
    )
    assert shown_tables(window) == []
    assert window.run("[...document.querySelectorAll('details.where')].every(one => !one.hidden)")


def test_a_link_in_the_matrix_shows_its_table_even_twice(window: Window) -> None:
    script = "[...document.querySelectorAll('.matrix td a')].map(one => one.getAttribute('href'))"
    second = window.run(script)[1]
    window.run("document.documentElement.style.scrollBehavior = 'auto'")
    for _ in range(2):
        window.click(f".matrix td a[href='{second}']")
        window.run("new Promise(done => setTimeout(done, 50))")
        (shown,) = shown_tables(window)
        assert shown == window.run(
            f"document.querySelector('{second}').closest('details').querySelector('h3').textContent"
        )
        window.run(
            """(() => {
            const select = document.querySelector("#chosen");
            select.selectedIndex = 0;
            select.dispatchEvent(new Event("change"));
            history.replaceState(null, "", "SECOND");
        })()""".replace("SECOND", second)
        )


def test_a_link_of_the_contents_opens_its_fold(window: Window) -> None:
    window.click("nav.contents a[href='#provenance']")
    window.run("new Promise(done => setTimeout(done, 50))")
    assert window.run("document.querySelector('#provenance').closest('details').open")


# Letters of pictures that are shown, and by how much each reaches beyond what can be seen of it.
LETTERS = """[...document.querySelectorAll("figure .picture")].filter(box => box.getClientRects().length)
    .flatMap(box => {
        const svg = box.querySelector("svg"), seen = box.getBoundingClientRect();
        const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
        return [...svg.querySelectorAll("text")].map(text => [
            text.textContent, scale * parseFloat(getComputedStyle(text).fontSize),
            text.getBoundingClientRect().right - seen.right]);
    })"""
# The colours of some pixels of a picture of the window, read by the browser itself.
PIXELS = """(async (data, places) => {
    const image = new Image();
    await new Promise(done => { image.onload = done; image.src = "data:image/png;base64," + data; });
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.width, image.height];
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    return places.map(([x, y]) => [...context.getImageData(x, y, 1, 1).data].slice(0, 3));
})"""


def edges(window: Window, selector: str) -> list[int]:
    """How light the left and the right edge of a box are, from 0 to 765, where no text stands."""
    left, right, y = window.run(
        f"""(() => {{
        const one = document.querySelector({selector!r});
        one.scrollIntoView({{block: "start", behavior: "instant"}});
        scrollBy({{top: -200, behavior: "instant"}});
        const box = one.getBoundingClientRect();
        return [Math.ceil(box.left) + 2, Math.floor(box.right) - 3, Math.round(box.top) + 12];
    }})()"""
    )
    data = window.call("Page.captureScreenshot", format="png")["data"]
    return [sum(pixel) for pixel in window.run(f"{PIXELS}({data!r}, [[{left},{y}],[{right},{y}]])")]


@pytest.mark.rotating(1)
@COLOURS
def test_a_table_shows_at_its_edge_that_there_is_more(
    browser: Browser, report_file: Path, dark: bool
) -> None:
    phone = browser.open(report_file, 360, 740, dark=dark)
    box = "#results .scroll"
    assert phone.run(f"(one => one.scrollWidth > one.clientWidth)(document.querySelector('{box}'))")
    plain, shadow = edges(phone, box)
    assert abs(shadow - plain) > 60
    phone.run(f"document.querySelector('{box}').scrollLeft = 9999")
    assert abs(edges(phone, box)[1] - plain) < 12
    desk = browser.open(report_file, 1280, dark=dark)
    assert desk.run(f"(one => one.scrollWidth == one.clientWidth)(document.querySelector('{box}'))")
    plain, other = edges(desk, box)
    assert abs(other - plain) < 12


@pytest.mark.rotating(2)
@pytest.mark.parametrize("width", [360, 400, 768, 1000, 1280])
def test_pictures_can_be_read_at_any_width(browser: Browser, report_file: Path, width: int) -> None:
    shown = browser.open(report_file, width)
    shown.run(OPEN)
    letters = shown.run(LETTERS)
    assert len(letters) > 200
    for text, size, beyond in letters:
        assert size >= 9.5, text
        assert beyond <= 2, text


@pytest.mark.parametrize("width", [360, 400])
def test_on_a_phone_the_letters_of_a_leaderboard_are_in_sight(
    browser: Browser, report_file: Path, width: int
) -> None:
    phone = browser.open(report_file, width, 740)
    right, edge = phone.run(
        """(() => {
        const letters = document.querySelector("#results .letters");
        return [letters.getBoundingClientRect().right,
            letters.closest(".scroll").getBoundingClientRect().right];
    })()"""
    )
    assert right <= edge
