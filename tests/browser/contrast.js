/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * The contrast of every word with its background, as WCAG 2.2 (1.4.3, level AA) computes it: 4.5 to 1, or
 * 3 to 1 for large letters. Loaded after look.js. */

const brush = Object.assign(document.createElement("canvas"), { width: 1, height: 1 })
  .getContext("2d", { willReadFrequently: true });
const known = new Map();

/* Any colour of CSS as [red, green, blue, opacity], the last from 0 to 1. */
function colour(said) {
  if (!known.has(said)) {
    brush.clearRect(0, 0, 1, 1);
    brush.fillStyle = said;
    brush.fillRect(0, 0, 1, 1);
    const [red, green, blue, opacity] = brush.getImageData(0, 0, 1, 1).data;
    known.set(said, [red, green, blue, opacity / 255]);
  }
  return known.get(said);
}

function over([red, green, blue, opacity], below) {
  return [red, green, blue].map((part, i) => part * opacity + below[i] * (1 - opacity));
}

function luminance(parts) {
  const [red, green, blue] = parts.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function ratio(first, second) {
  const [light, dark] = [luminance(first), luminance(second)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

function opacity(element) {
  let all = 1;
  for (let at = element; at; at = at.parentElement) all *= Number(getComputedStyle(at).opacity);
  return all;
}

/* The canvas colour of the browser for the page's colour scheme. */
function paper() {
  const probe = document.documentElement.appendChild(document.createElement("i"));
  probe.style.backgroundColor = "canvas";
  const said = getComputedStyle(probe).backgroundColor;
  probe.remove();
  return colour(said).slice(0, 3);
}

/* The background of an element: its own and those of its ancestors. */
const behind = new Map();
function background(element) {
  if (!element) return paper();
  if (!behind.has(element)) {
    const style = getComputedStyle(element);
    const own = element.ownerSVGElement ? [0, 0, 0, 0] : colour(style.backgroundColor);
    const below = own[3] === 1 ? own : background(element.parentElement);
    if (style.backgroundImage !== "none") behind.set(element, null); // not a single colour
    else behind.set(element, below && over(own, below));
  }
  return behind.get(element);
}

/* The background of a text in a picture: the last shape drawn before it that contains its centre. */
function drawn(text, shapes) {
  const box = text.getBoundingClientRect();
  const [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
  let found = background(text.ownerSVGElement);
  for (const shape of shapes) {
    if (!(shape.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING)) break;
    const style = getComputedStyle(shape);
    if (style.fill === "none") continue;
    const at = new DOMPoint(x, y).matrixTransform(shape.getScreenCTM().inverse());
    if (!shape.isPointInFill(at)) continue;
    const [red, green, blue, alpha] = colour(style.fill);
    found = over([red, green, blue, alpha * style.fillOpacity * opacity(shape)], found);
  }
  return found;
}

function unlike(element, front, back) {
  if (!back) return [`${described(element)} is on a picture`];
  const style = getComputedStyle(element);
  const [red, green, blue, alpha] = colour(front);
  const seen = over([red, green, blue, alpha * opacity(element)], back);
  const size = parseFloat(style.fontSize);
  const large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
  const found = ratio(seen, back);
  return found < (large ? 3 : 4.5) ? [`${described(element)} has ${found.toFixed(2)} to 1`] : [];
}

/* Words with too little contrast. */
function faint() {
  const wrong = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const seen = new Set();
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || seen.has(element) || element.ownerSVGElement) continue;
    seen.add(element);
    if (shown(element)) wrong.push(...unlike(element, getComputedStyle(element).color, background(element)));
  }
  for (const picture of own("svg")) {
    const shapes = picture.querySelectorAll("path, rect, circle, polygon");
    for (const text of picture.querySelectorAll("text")) {
      wrong.push(...unlike(text, getComputedStyle(text).fill, drawn(text, shapes)));
    }
  }
  return wrong;
}
