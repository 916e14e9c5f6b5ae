/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * Checks of a page as the browser shows it. Each function returns lines of text, none if all is well.
 * chrome.py prepends these functions to its scripts. */
"use strict";

function described(element) {
  const words = (element.textContent || "").trim().replace(/\s+/g, " ").slice(0, 40);
  return element.tagName.toLowerCase() + (element.id && "#" + element.id) + " '" + words + "'";
}

function shown(element) {
  return element.checkVisibility({ visibilityProperty: true });
}

/* The closest ancestor that scrolls sideways, or null. */
function region(element) {
  for (let at = element.parentElement; at && at !== document.body; at = at.parentElement) {
    if (/auto|scroll/.test(getComputedStyle(at).overflowX)) return at;
  }
  return null;
}

function own(all) {
  return [...document.querySelectorAll(all)].filter(shown);
}

/* Elements that overflow this width, are cut, or scroll without being reachable by keyboard. */
function cut(width, scrolls) {
  const wrong = [];
  const page = document.scrollingElement.scrollWidth;
  if (page > width) wrong.push(`the page is ${page} px wide`);
  for (const element of own("body *")) {
    if (element.ownerSVGElement) continue;
    const box = element.getBoundingClientRect();
    if (box.right <= 0 || element.clientWidth === 1) continue; // only for screen readers
    if (!region(element) && (box.right > width + 1 || box.left < -1)) {
      wrong.push(`${described(element)} ends at ${Math.round(box.right)} px`);
    }
    const style = getComputedStyle(element);
    const more = element.scrollWidth - element.clientWidth;
    if (element.clientWidth && more > 1) {
      if (/hidden|clip/.test(style.overflowX)) wrong.push(`${described(element)} is cut by ${more} px`);
      if (/auto|scroll/.test(style.overflowX)) {
        if (!scrolls) wrong.push(`${described(element)} is cut by ${more} px on paper`);
        else if (element.tabIndex < 0) wrong.push(`no key scrolls ${described(element)}`);
      }
    }
    const letter = parseFloat(style.fontSize);
    if (/TH|TD/.test(element.tagName)) {
      const range = document.createRange();
      range.selectNodeContents(element);
      const words = range.getBoundingClientRect();
      if (words.width < 4 * letter && words.height > 12 * letter) {
        wrong.push(`${described(element)} is broken letter by letter`);
      }
    }
    if (/hidden|clip/.test(style.overflowY) && element.scrollHeight > element.clientHeight + 1) {
      wrong.push(`${described(element)} is cut below`);
    }
  }
  return wrong;
}

/* Pictures whose words are cut or too small. `least` is the minimum width in px, unless the picture scrolls.
   Pictures hidden from screen readers, such as the colour next to a name, are skipped. */
function pictures(least, smallest) {
  const wrong = [];
  for (const picture of own("main svg, main img")) {
    if (picture.ariaHidden === "true") continue;
    const box = picture.getBoundingClientRect();
    if (box.width < least && !region(picture)) {
      wrong.push(`a picture is ${Math.round(box.width)} px wide`);
    }
    const named = picture.getAttribute("aria-label") || picture.alt || picture.querySelector("title");
    if (!named) wrong.push(`a picture has no name: ${described(picture)}`);
    for (const text of picture.querySelectorAll("text")) {
      const at = text.getBoundingClientRect();
      if (at.left < box.left - 1 || at.right > box.right + 1 || at.top < box.top - 1 || at.bottom > box.bottom + 1) {
        wrong.push(`${described(text)} is cut in its picture`);
      }
      const to = text.getScreenCTM();
      const size = parseFloat(getComputedStyle(text).fontSize) * Math.hypot(to.a, to.b);
      if (size < smallest) wrong.push(`${described(text)} is ${size.toFixed(1)} px high`);
    }
  }
  return wrong;
}

/* Errors in links, labels and other marks for screen readers. */
function marked() {
  const wrong = [];
  const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
  const twice = ids.filter((id, index) => ids.indexOf(id) !== index);
  wrong.push(...twice.map((id) => `the id ${id} occurs twice`));
  for (const name of ["aria-controls", "aria-labelledby", "aria-describedby", "for"]) {
    for (const element of document.querySelectorAll(`[${name}]`)) {
      for (const id of element.getAttribute(name).split(/\s+/)) {
        if (!document.getElementById(id)) wrong.push(`${name} of ${described(element)}: no ${id}`);
      }
    }
  }
  let last = 0;
  for (const heading of own("h1, h2, h3, h4, h5, h6")) {
    const level = Number(heading.tagName[1]);
    if (level > last + 1) wrong.push(`${described(heading)} follows a heading of level ${last}`);
    last = level;
  }
  if (own("h1").length !== 1) wrong.push(`${own("h1").length} headings of the first level`);
  for (const input of own("input")) if (!input.labels.length) wrong.push(`${described(input)} has no label`);
  for (const link of own("a[href]")) {
    if (!link.textContent.trim() && !link.getAttribute("aria-label")) wrong.push("a link has no words");
  }
  if (!document.documentElement.lang) wrong.push("the page does not declare its language");
  return wrong;
}

/* Resources that the page would load from outside the folder at this address. */
function external(root) {
  const wrong = [];
  for (const name of ["src", "href", "data", "action", "poster"]) {
    for (const element of document.querySelectorAll(`[${name}]:not(a)`)) {
      const url = new URL(element.getAttribute(name), document.baseURI).href;
      if (!url.startsWith(root) && !/^data:,?$/.test(url)) wrong.push(`${element.tagName} ${name}=${url}`);
    }
  }
  return wrong;
}
