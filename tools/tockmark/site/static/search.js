/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * The search over the pages of search-index.js, a script because a page opened from a folder may not
 * fetch files. "/" focuses it, Enter opens the first hit, Escape clears it. Below: tables of the class
 * "sortable" get a button in each heading, which sorts, and a field, which filters rows. */
(function () {
  "use strict";
  var MOST = 12;
  var form = document.querySelector(".search");
  var input = form.querySelector("input");
  var list = form.querySelector(".hits");
  var status = form.querySelector(".status");
  var root = document.body.dataset.root;
  form.hidden = false;

  // Rank a page: 4 whole title or alias, 3 start of one, 2 inside the title, 1 its words, 0 no match.
  function fit(page, words) {
    var title = page.t.toLowerCase();
    var aliases = page.a.map(function (name) { return name.toLowerCase(); });
    var text = [title, page.w.toLowerCase()].concat(aliases).join(" ");
    if (!words.every(function (word) { return text.indexOf(word) >= 0; })) return 0;
    var whole = words.join(" ");
    if (title === whole || aliases.indexOf(whole) >= 0) return 4;
    if ([title].concat(aliases).some(function (name) { return name.indexOf(whole) === 0; })) return 3;
    return title.indexOf(whole) > 0 ? 2 : 1;
  }

  function hits(text) {
    var words = text.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) return [];
    return TOCKMARK_PAGES.map(function (page, place) {
      return { page: page, fit: fit(page, words), place: place };
    }).filter(function (hit) {
      return hit.fit > 0;
    }).sort(function (a, b) {
      return b.fit - a.fit || a.place - b.place;
    });
  }

  function show() {
    var matches = hits(input.value);
    list.textContent = "";
    matches.slice(0, MOST).forEach(function (hit) {
      var item = document.createElement("li");
      var link = document.createElement("a");
      link.href = root + hit.page.u;
      link.textContent = hit.page.t;
      item.append(link, " (" + hit.page.k + ")");
      list.append(item);
    });
    var asked = Boolean(input.value.trim());
    if (asked && !matches.length) {
      var none = document.createElement("li");
      none.textContent = "Nothing found. Try a benchmark, a kernel or one word.";
      list.append(none);
    }
    list.hidden = !asked;
    status.textContent = asked ? matches.length + " pages found" : "";
  }

  input.addEventListener("input", show);
  form.addEventListener("submit", function (event) {
    event.preventDefault();
    var first = list.querySelector("a");
    if (first) location.href = first.href;
  });
  form.addEventListener("focusout", function (event) {
    if (!form.contains(event.relatedTarget)) list.hidden = true;
  });
  form.addEventListener("focusin", function () {
    list.hidden = !list.children.length;
  });
  document.addEventListener("keydown", function (event) {
    var typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName);
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      input.focus();
      input.select();
    } else if (event.key === "Escape" && form.contains(document.activeElement)) {
      input.value = "";
      show();
      document.activeElement.blur();
    }
  });
})();

(function () {
  "use strict";
  // A cell's number, if it starts with one, else its text.
  function value(row, column) {
    var words = row.cells[column].textContent.trim();
    var plain = words.replace(/\u2212/g, "-").replace(/[\s\u202f,]/g, "");
    return /^[-+]?\d+(\.\d+)?(%|$)/.test(plain) ? parseFloat(plain) : words;
  }

  function order(a, b) {
    var numbers = typeof a === "number" && typeof b === "number";
    return numbers ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
  }

  function sort(table, column, head) {
    var down = head.getAttribute("aria-sort") === "ascending";
    table.querySelectorAll("thead th").forEach(function (other) { other.removeAttribute("aria-sort"); });
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    Array.from(table.tBodies[0].rows).sort(function (a, b) {
      return order(value(a, column), value(b, column)) * (down ? -1 : 1);
    }).forEach(function (row) { table.tBodies[0].append(row); });
  }

  document.querySelectorAll("table.sortable").forEach(function (table) {
    Array.from(table.tHead.rows[0].cells).forEach(function (head, column) {
      var button = document.createElement("button");
      button.type = "button";
      button.append.apply(button, Array.from(head.childNodes));
      button.addEventListener("click", function () { sort(table, column, head); });
      head.append(button);
    });
    var label = document.createElement("label");
    var field = document.createElement("input");
    field.type = "search";
    label.className = "filter";
    label.append("Filter rows ", field);
    field.addEventListener("input", function () {
      var words = field.value.toLowerCase().split(/\s+/);
      Array.from(table.tBodies[0].rows).forEach(function (row) {
        var text = row.textContent.toLowerCase();
        row.hidden = !words.every(function (word) { return text.indexOf(word) >= 0; });
      });
    });
    table.closest(".wide").before(label);
  });
})();
