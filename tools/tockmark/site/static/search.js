/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * The search over the pages of search-index.js, a script because a page opened from a folder may not
 * fetch files. "/" focuses it, Enter opens the first hit, Escape clears it. */
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
    list.hidden = !matches.length;
    status.textContent = input.value.trim() ? matches.length + " pages found" : "";
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
