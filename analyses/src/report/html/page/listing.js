// Texts with values beside their lines: the hotter, the stronger the colour behind the first value.

/** Lines of the text that was opened last, the hottest first; and which of them was gone to. */
const hot = { box: null, lines: [], at: -1 };

/** Opens a text at a line, or where it is hottest. */
R.openListing = function (id, line) {
  const box = document.getElementById(id);
  box.open = true;
  box.fill();
  hotIn(box);
  if (line === undefined) return R.hotter();
  goTo(box, line);
};

/** To the next hottest line of the text that was opened last, or of the first one that stands open. */
R.hotter = function () {
  const box = hot.box && hot.box.open ? hot.box : document.querySelector("details.listing[open]");
  if (!box) return;
  box.fill();
  if (box !== hot.box) hotIn(box);
  if (!hot.lines.length) return box.scrollIntoView({ block: "start" });
  hot.at = (hot.at + 1) % hot.lines.length;
  goTo(box, hot.lines[hot.at]);
};

function hotIn(box) {
  Object.assign(hot, { box, lines: box.hottest(), at: -1 });
}

function goTo(box, line) {
  const found = box.querySelector(`tr[data-line="${line}"]`);
  box.querySelectorAll("tr.here").forEach((row) => row.classList.remove("here"));
  if (!found) return box.scrollIntoView({ block: "start" });
  found.classList.add("here");
  found.scrollIntoView({ block: "center" });
  R.say(`line ${line + 1}`);
}

R.listing = function (listing, open, id) {
  const columns = listing.columns.map(R.column);
  const lines = R.array(listing.lines);
  const first = columns[0];
  let most = 0;
  for (const v of first ? first.values : []) if (v > most) most = v;
  const body = R.el("tbody");
  const build = () => {
    if (body.childElementCount) return;
    const sets = new Map();
    lines.forEach((line, set) => sets.set(line, [...(sets.get(line) || []), set]));
    const rows = [];
    listing.text.split("\n").forEach((text, n) => {
      const beside = sets.get(n) || [null];
      beside.forEach((set, k) => rows.push(row(columns, set, most, k === beside.length - 1 ? [n + 1, text] : ["", ""], n)));
    });
    body.append(...rows);
  };
  const count = listing.text.split("\n").length;
  const head = R.el("thead", null, R.el("tr", null, columns.map((c) => R.el("th.number", { scope: "col" }, c.name, c.unit && c.unit !== "text" ? R.el("span.unit", null, c.unit) : null)),
    R.el("th.number", { scope: "col" }, "line"), R.el("th.text", { scope: "col" }, "text")));
  const box = R.el("details.listing", { open, id },
    R.el("summary", null, listing.title, R.el("span.soft", null, ` ${count} lines, ${lines.length} blocks`)),
    R.el("div.scroll.code", { tabindex: 0, role: "region", "aria-label": listing.title }, R.el("table", null, head, body)));
  box.fill = build;
  // (of blocks that ran equally often the first; lines that never ran are not hot)
  box.hottest = () => {
    const values = new Map();
    if (first) lines.forEach((line, set) => first.values[set] > 0 && values.set(line, Math.max(values.get(line) || 0, first.values[set])));
    return [...values].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([line]) => line);
  };
  box.addEventListener("toggle", () => box.open && build());
  if (open) R.later(box, build);
  return box;
};

function row(columns, set, most, [number, text], n) {
  const values = columns.map((c, n) => {
    if (set === null) return R.el("td.number");
    const value = c.values[set];
    if (n || !(most > 0) || !Number.isFinite(value)) return R.cell(c, set);
    // (by its logarithm: loops run thousands of times as often as what is around them)
    const share = value > 0 ? 0.12 + 0.7 * (Math.log1p(value) / Math.log1p(most)) : 0;
    return R.el(value > 0 ? "td.number.hot" : "td.number.cold", { style: `--hot:${share.toFixed(3)}`, title: R.raw(value, c) }, R.number(value, c.shown));
  });
  return R.el(set === null ? "tr" : "tr.block", { "data-line": number ? n : null }, values, R.el("td.number.at", null, String(number)), R.el("td.source", null, text || " "));
}
