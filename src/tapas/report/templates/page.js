"use strict";
(function () {
  function key(row, column) {
    var cell = row.cells[column];
    if (!cell) { return ""; }
    if (cell.dataset.v !== undefined) { return parseFloat(cell.dataset.v); }
    return cell.textContent.trim();
  }
  function empty(value) { return value === "" || value === "–" || value !== value; }
  function compare(a, b) {
    if (typeof a === "number" && typeof b === "number") { return a - b; }
    return String(a).localeCompare(String(b), undefined, { numeric: true });
  }
  function sort(table, column, header) {
    var down = header.getAttribute("aria-sort") === "none"
      ? header.classList.contains("n")
      : header.getAttribute("aria-sort") === "ascending";
    Array.prototype.forEach.call(table.tHead.rows[0].cells, function (other) {
      other.setAttribute("aria-sort", "none");
    });
    header.setAttribute("aria-sort", down ? "descending" : "ascending");
    var body = table.tBodies[0];
    Array.prototype.slice.call(body.rows)
      .map(function (row, place) { return { row: row, place: place, key: key(row, column) }; })
      .sort(function (a, b) {
        if (empty(a.key) || empty(b.key)) {
          return (empty(a.key) ? 1 : 0) - (empty(b.key) ? 1 : 0) || a.place - b.place;
        }
        return (down ? -1 : 1) * compare(a.key, b.key) || a.place - b.place;
      })
      .forEach(function (item) { body.appendChild(item.row); });
  }
  document.querySelectorAll("table.sortable").forEach(function (table) {
    if (table.tBodies[0].rows.length < 2) { return; }
    Array.prototype.forEach.call(table.tHead.rows[0].cells, function (header, column) {
      var button = document.createElement("button");
      button.type = "button";
      button.textContent = header.textContent;
      header.textContent = "";
      header.appendChild(button);
      header.setAttribute("aria-sort", "none");
      button.addEventListener("click", function () { sort(table, column, header); });
    });
  });
  document.querySelectorAll("form.filters").forEach(function (form) {
    var selects = form.querySelectorAll("select");
    var table = document.getElementById(form.dataset.for);
    if (!selects.length || !table) { return; }
    var rows = Array.prototype.slice.call(table.tBodies[0].rows);
    function apply() {
      var shown = 0;
      rows.forEach(function (row) {
        var keys = row.dataset.k.split(" ");
        row.hidden = !Array.prototype.every.call(selects, function (select) {
          return select.value === "" || keys[Number(select.dataset.key)] === select.value;
        });
        shown += row.hidden ? 0 : 1;
      });
      form.querySelector("output").textContent =
        shown === rows.length ? "" : "Showing " + shown + " of " + rows.length + " results";
    }
    form.addEventListener("submit", function (event) { event.preventDefault(); });
    form.addEventListener("change", apply);
    form.hidden = false;
    apply();
  });
  const follow = document.getElementById("follow");
  if (follow) {
    follow.checked = location.hash !== "#still";
    follow.addEventListener("change", () => { location.hash = follow.checked ? "" : "still"; });
    setInterval(() => { if (follow.checked) location.reload(); }, 5000);
  }
})();
