"use strict";
(function () {
  // The order of rows: by the value a cell carries, else by the number its text begins with, else by its
  // text; what is missing stands last.
  function value(row, column, numbers) {
    var cell = row.cells[column];
    if (!cell) return null;
    var kept = cell.getAttribute("data-sort");
    var text = kept === null ? cell.textContent.trim() : kept;
    if (text === "" || text === "–" || text === "nan") return null;
    var number = numbers ? parseFloat(text.replace(/,/g, "").replace("−", "-")) : Number(text);
    return Number.isNaN(number) ? text : number;
  }
  function compare(a, b) {
    if (typeof a === "number" && typeof b === "number") return a - b;
    return String(a).localeCompare(String(b), undefined, { numeric: true });
  }
  function sort(head) {
    var table = head.closest("table"), heads = head.parentNode.cells, body = table.tBodies[0];
    var column = Array.prototype.indexOf.call(heads, head);
    var now = head.getAttribute("aria-sort");
    // Numbers are first sorted with the largest on top, names from a to z.
    var first = head.classList.contains("n") ? "descending" : "ascending";
    var next = now === "none" ? first : now === "ascending" ? "descending" : "ascending";
    var sign = next === "ascending" ? 1 : -1;
    var numbers = head.classList.contains("n");
    var rows = Array.prototype.map.call(body.rows, function (row, place) {
      return { row: row, key: value(row, column, numbers), place: place };
    });
    rows.sort(function (a, b) {
      if (a.key === null || b.key === null) {
        return (a.key === null) - (b.key === null) || a.place - b.place;
      }
      return sign * compare(a.key, b.key) || a.place - b.place;
    });
    Array.prototype.forEach.call(heads, function (other) {
      if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none");
    });
    head.setAttribute("aria-sort", next);
    rows.forEach(function (one) { body.appendChild(one.row); });
  }
  document.addEventListener("click", function (event) {
    var button = event.target.closest("th[aria-sort] button");
    if (button) sort(button.closest("th"));
  });

  // One data set and protocol at a time; without this script, all of them are folds in a list.
  var chooser = document.querySelector(".chooser"), select = document.querySelector(".chooser select");
  function show(name) {
    document.querySelectorAll("details.where").forEach(function (one) {
      var chosen = one.querySelector(".linked").id === name;
      one.hidden = name !== "" && !chosen;
      one.open = chosen;
    });
    select.value = name;
  }
  function follow() {
    var target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    var fold = target && target.closest("details");
    if (!fold) return;
    if (chooser && fold.classList.contains("where")) show(target.id);
    fold.open = true;
    fold.scrollIntoView();
  }
  if (chooser) {
    chooser.hidden = false;
    select.addEventListener("change", function () {
      show(select.value);
      try { history.replaceState(null, "", "#" + (select.value || "results")); } catch (error) { /* not kept */ }
    });
    show(select.options[0].value);
  }
  window.addEventListener("hashchange", follow);
  document.addEventListener("click", function (event) {
    // The same link again changes no address.
    if (event.target.closest('a[href^="#"]')) setTimeout(follow);
  });
  follow();

  // Light or dark: as the system has it, until the reader chooses.
  var root = document.documentElement, button = document.querySelector("button.theme");
  var system = window.matchMedia("(prefers-color-scheme: dark)");
  function kept() { try { return localStorage.getItem("trueedge-theme"); } catch (error) { return null; } }
  function keep(theme) { try { localStorage.setItem("trueedge-theme", theme); } catch (error) { /* not kept */ } }
  function dark() {
    var theme = root.getAttribute("data-theme");
    return theme ? theme === "dark" : system.matches;
  }
  function tell() {
    button.textContent = dark() ? "Light" : "Dark";
    button.setAttribute("aria-label", dark() ? "Switch to light colours" : "Switch to dark colours");
  }
  var theme = kept();
  if (theme === "dark" || theme === "light") root.setAttribute("data-theme", theme);
  if (button) {
    button.hidden = false;
    button.addEventListener("click", function () {
      var next = dark() ? "light" : "dark";
      root.setAttribute("data-theme", next);
      keep(next);
      tell();
    });
    system.addEventListener("change", tell);
    tell();
  }
})();
