(function () {
  // A command to copy; without this script it is selected by hand.
  document.querySelectorAll(".copy button").forEach(function (button) {
    if (!navigator.clipboard) return;
    button.hidden = false;
    button.addEventListener("click", function () {
      navigator.clipboard.writeText(button.parentNode.querySelector("code").textContent).then(function () {
        button.textContent = "Copied";
      });
    });
  });
  // Two entries to compare; without this script all pairs are listed.
  var box = document.querySelector(".pairs");
  if (!box) return;
  var chosen = box.querySelectorAll("select"), rows = document.querySelectorAll("tr[data-pair]");
  function show() {
    var names = [chosen[0].value, chosen[1].value].filter(Boolean);
    rows.forEach(function (row) {
      var pair = row.getAttribute("data-pair").split(" ");
      row.hidden = !names.every(function (name) { return pair.indexOf(name) >= 0; });
    });
  }
  box.hidden = false;
  chosen.forEach(function (one) { one.addEventListener("change", show); });
  show();
})();
