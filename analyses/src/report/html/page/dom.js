"use strict";
// What all other scripts stand on: making elements, and saying things to those who do not look.
const R = (window.R = {});

/** An element: `el("td.number", {title: "1"}, "1")`. Text never becomes markup. */
R.el = function (what, attributes, ...children) {
  const [tag, ...classes] = what.split(".");
  const made = document.createElement(tag || "div");
  if (classes.length) made.className = classes.join(" ");
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== ""));
  return made;
};

/** What the address names behind its `#`; nothing where that is no text. */
R.address = function () {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return "";
  }
};

/** For screen readers. */
R.say = function (text) {
  const said = document.getElementById("said");
  if (said.textContent !== text) said.textContent = text;
};

/** A name in a table's or an export's form as words: `gpu_times` is "Gpu times". */
R.words = function (name) {
  const words = name.replace(/_/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
};

/** A name that can be an element's. */
R.slug = function (text) {
  return text.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "") || "section";
};

/** A file of these words, for saving. */
R.save = function (name, text, kind) {
  const url = URL.createObjectURL(new Blob([text], { type: kind }));
  const link = R.el("a", { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
};

/** A figure with a heading, and something to say below it. */
R.figure = function (title, body, below) {
  return R.el("figure", null, title ? R.el("figcaption", null, title.charAt(0).toUpperCase() + title.slice(1)) : null, body, below || null);
};

/** The page moves below a pointer that does not: what a key showed stays. */
R.rests = false;
let pointer = "";
for (const kind of ["pointermove", "pointerleave"]) {
  addEventListener(kind, ({ clientX, clientY }) => {
    const at = `${clientX} ${clientY}`;
    R.rests = at === pointer;
    if (kind === "pointermove") pointer = at;
  }, true);
}

/** What floats beside the pointer: one for the whole page, of the figure that showed it last. */
R.tip = {
  box: null,
  of: null,
  show(of, x, y, lines) {
    this.of = of;
    if (!this.box) {
      this.box = R.el("div.tip", { role: "tooltip" });
      document.body.append(this.box);
    }
    this.box.replaceChildren(...lines.map((line, n) => R.el(n ? "div" : "div.first", null, line)));
    this.box.hidden = false;
    const { width, height } = this.box.getBoundingClientRect();
    const right = x + 14 + width > innerWidth ? x - 14 - width : x + 14;
    const down = y + 14 + height > innerHeight ? y - 14 - height : y + 14;
    this.box.style.left = `${Math.max(4, right)}px`;
    this.box.style.top = `${Math.max(4, down)}px`;
  },
  hide(of) {
    if (this.box && this.of === of) this.box.hidden = true;
  },
};
