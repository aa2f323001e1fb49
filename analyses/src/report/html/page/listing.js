// Texts with values beside their lines: the hotter, the stronger the colour behind the first value.

R.listing = function (listing, open) {
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
      beside.forEach((set, k) => rows.push(row(columns, set, most, k === beside.length - 1 ? [n + 1, text] : ["", ""])));
    });
    body.append(...rows);
  };
  const count = listing.text.split("\n").length;
  const head = R.el("thead", null, R.el("tr", null, columns.map((c) => R.el("th.number", { scope: "col" }, c.name, c.unit && c.unit !== "text" ? R.el("span.unit", null, c.unit) : null)),
    R.el("th.number", { scope: "col" }, "line"), R.el("th.text", { scope: "col" }, "text")));
  const box = R.el("details.listing", { open },
    R.el("summary", null, listing.title, R.el("span.soft", null, ` ${count} lines, ${lines.length} blocks`)),
    R.el("div.scroll.code", { tabindex: 0, role: "region", "aria-label": listing.title }, R.el("table", null, head, body)));
  box.addEventListener("toggle", () => box.open && build());
  if (open) R.later(box, build);
  return box;
};

function row(columns, set, most, [number, text]) {
  const values = columns.map((c, n) => {
    if (set === null) return R.el("td.number");
    const value = c.values[set];
    if (n || !(most > 0) || !Number.isFinite(value)) return R.cell(c, set);
    // (by its logarithm: loops run thousands of times as often as what is around them)
    const share = value > 0 ? 0.12 + 0.7 * (Math.log1p(value) / Math.log1p(most)) : 0;
    return R.el(value > 0 ? "td.number.hot" : "td.number.cold", { style: `--hot:${share.toFixed(3)}`, title: R.raw(value, c) }, R.number(value, c.shown));
  });
  return R.el(set === null ? "tr" : "tr.block", null, values, R.el("td.number.at", null, String(number)), R.el("td.source", null, text || " "));
}
