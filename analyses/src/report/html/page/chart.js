// Figures: elements of SVG as the report has them, painted by the page's style; pointing at a value, or the arrow keys, say it as it is.

/** What is drawn by scripts: drawn anew in the other theme, at another width, and for print. */
R.charts = [];

/** A colour that the style sheet names. */
R.colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/** Colours that are told apart, in order. */
R.palette = () => [1, 2, 3, 4, 5, 6, 7, 8].map((n) => R.colour(`series-${n}`));

/** An element of SVG. What stands for values is put into `marks`. */
function svg({ tag, attributes, text, says, inner }, marks) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of attributes) made.setAttribute(name, value);
  if (text) made.textContent = text;
  made.append(...(inner || []).map((of) => svg(of, marks)));
  if (says) marks.set(made, says);
  return made;
}

/** A report's figure. */
R.chart = function ({ title, note, size: [wide, high], top, elements }) {
  const marks = new Map();
  const view = [["viewBox", `0 ${top} ${wide} ${high - top}`]];
  const box = R.el("div.chart", { tabindex: 0, role: "img", "aria-label": `${title}. Arrow keys read single values.`, style: `max-width:${wide}px` });
  // (its place is there before it is drawn, so that nothing below it moves)
  box.style.aspectRatio = `${wide} / ${high - top}`;
  R.later(box, () => {
    box.append(svg({ tag: "svg", attributes: view, inner: elements }, marks));
    box.dataset.drawn = "yes";
  });
  let shown = null;
  const show = (mark, x, y) => {
    if (shown) shown.classList.remove("at");
    shown = mark;
    if (!mark) return R.tip.hide(box);
    mark.classList.add("at");
    R.tip.show(box, x, y, marks.get(mark));
  };
  const under = (event) => R.rests || show(event.target.closest("g"), event.clientX, event.clientY);
  box.addEventListener("pointermove", under);
  box.addEventListener("pointerleave", () => R.rests || show(null));
  box.addEventListener("blur", () => show(null));
  box.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    // (it has the focus before it was seen to come near)
    if (waiting.has(box)) draw(box);
    const all = [...marks.keys()];
    if (!step || !all.length) return;
    event.preventDefault();
    const mark = all[Math.max(0, Math.min(all.length - 1, all.indexOf(shown) + step))];
    const { left, right, top, bottom } = mark.getBoundingClientRect();
    show(mark, (left + right) / 2, (top + bottom) / 2);
    R.say(marks.get(mark).join(", "));
  });
  return R.figure(title, box, note ? R.el("p.below", null, note) : null);
};

/** Things that are drawn when they come near the window. */
const waiting = new Map();
const watcher = new IntersectionObserver((entries) => {
  for (const entry of entries) if (entry.isIntersecting) draw(entry.target);
}, { rootMargin: "600px" });

function draw(box) {
  const what = waiting.get(box);
  waiting.delete(box);
  watcher.unobserve(box);
  if (what) what();
}

/** Does this when the element comes near. */
R.later = function (box, what) {
  waiting.set(box, what);
  watcher.observe(box);
};

/** Draws all that still waits. */
R.drawAll = () => [...waiting.keys()].filter((box) => box.isConnected).forEach(draw);

/** Draws all that is drawn anew: another theme, another width. */
R.redraw = () => R.charts.filter((c) => c.drawn && c.box.isConnected).forEach((c) => c.draw());

let width = 0;
new ResizeObserver(() => {
  const now = document.documentElement.clientWidth;
  if (now !== width && !R.printing) {
    width = now;
    requestAnimationFrame(() => R.redraw());
  }
}).observe(document.documentElement);
