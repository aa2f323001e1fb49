// What took place when: lanes of spans on a canvas that is moved and zoomed.

const LEFT = 92;
const AXIS = 26;

R.timeline = function (t) {
  const data = {
    lane: R.array(t.lane), kind: R.array(t.kind), begin: R.array(t.begin), length: R.array(t.length),
    value: R.array(t.values), lanes: R.array(t.lanes), groups: [...new Set(t.kinds.map((k) => k[1]))],
  };
  let whole = 0;
  for (let n = 0; n < data.lane.length; n++) whole = Math.max(whole, data.begin[n] + data.length[n]);
  let most = 0;
  for (const v of data.value) if (v > most) most = v;
  // (where nothing took time there is nothing to divide by)
  whole ||= 1;
  most ||= 1;
  const row = Math.max(3, Math.min(data.lanes.length > 4 ? 14 : 26, Math.floor(420 / Math.max(1, data.lanes.length))));
  const height = row * data.lanes.length + AXIS;
  const canvas = R.el("canvas.lanes", {
    tabindex: 0, role: "img", style: `height:${height}px`,
    "aria-label": `${t.title}: ${data.lane.length} spans in ${data.lanes.length} lanes. Plus and minus zoom, arrow keys move, 0 shows all.`,
  });
  const view = { from: 0, to: whole };
  const paint = () => lanes(canvas, t, data, view, row, height, most);
  const move = (from, to) => {
    const wide = Math.min(whole, Math.max(whole / 5e4, to - from));
    view.from = Math.max(0, Math.min(whole - wide, from));
    view.to = view.from + wide;
    paint();
  };
  const zoom = (by, share = 0.5) => {
    const at = view.from + (view.to - view.from) * share;
    move(at - (at - view.from) * by, at + (view.to - at) * by);
  };
  const shareOf = (event) => {
    const box = canvas.getBoundingClientRect();
    return (event.clientX - box.left - LEFT) / (box.width - LEFT);
  };
  canvas.addEventListener("keydown", (event) => {
    const step = (view.to - view.from) * 0.2;
    const does = {
      "+": () => zoom(0.6), "=": () => zoom(0.6), "-": () => zoom(1 / 0.6), 0: () => move(0, whole),
      ArrowLeft: () => move(view.from - step, view.to - step), ArrowRight: () => move(view.from + step, view.to + step),
    }[event.key];
    if (!does || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    does();
    R.say(`${t.time.name} ${R.short(view.from)} to ${R.raw(R.short(view.to), t.time)}`);
  });
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1.25 : 0.8, Math.max(0, shareOf(event)));
  }, { passive: false });
  /** The span under the pointer, -1 for none, and the time of a pixel. */
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    const perPixel = (view.to - view.from) / (box.width - LEFT);
    return { n: under(data, view, row, shareOf(event), event.clientY - box.top, perPixel), perPixel };
  };
  let drag = null;
  canvas.addEventListener("pointerdown", (event) => {
    drag = { x: event.clientX, from: view.from, to: view.to };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointerup", (event) => {
    const clicked = drag && Math.abs(event.clientX - drag.x) < 3 && at(event);
    drag = null;
    const key = clicked && clicked.n >= 0 && R.things.ofSpan(t.kinds[data.kind[clicked.n]][0], t.frame);
    if (key) location.hash = encodeURIComponent(key);
  });
  canvas.addEventListener("pointerleave", () => R.tip.hide(canvas));
  canvas.addEventListener("pointermove", (event) => {
    const { n, perPixel } = at(event);
    if (drag) {
      const by = (event.clientX - drag.x) * perPixel;
      move(drag.from - by, drag.to - by);
      return;
    }
    const kind = n >= 0 && t.kinds[data.kind[n]];
    const key = kind && R.things.ofSpan(kind[0], t.frame);
    canvas.style.cursor = key ? "pointer" : "";
    if (!kind) return R.tip.hide(canvas);
    R.tip.show(canvas, event.clientX, event.clientY, [
      kind[0], `${data.lanes[data.lane[n]]}, ${kind[1]}`, `begin ${R.raw(data.begin[n], t.time)}`,
      `length ${R.raw(data.length[n], t.time)}`, `${t.value.name} ${R.raw(data.value[n], t.value)}`,
      key ? "a click says more" : "",
    ].filter(Boolean));
  });
  const button = (text, label, does) => R.el("button", { type: "button", "aria-label": label, onclick: does }, text);
  const tools = R.el("div.tools", null,
    button("+", "Zoom in", () => zoom(0.5)), button("−", "Zoom out", () => zoom(2)), button("All", "Show all", () => move(0, whole)),
    R.el("span.legend-line", null, data.groups.map((g, n) => R.el("span.key", null, R.el("i", { style: `background:var(--series-${(n % 8) + 1})` }), g)),
      R.el("span.soft", null, `paler: less (${t.value.name})`)));
  const frame = R.el("div.lanes-frame", null, tools, canvas);
  const chart = { box: canvas, drawn: null, draw: () => ((chart.drawn = true), (frame.dataset.drawn = "yes"), paint()) };
  R.charts.push(chart);
  R.later(frame, chart.draw);
  return R.figure(t.title, frame);
};

/** The span under a place; -1 where there is none. */
function under(data, view, row, share, y, perPixel) {
  const time = view.from + (view.to - view.from) * share;
  const lane = Math.floor(y / row);
  if (share < 0) return -1;
  for (let n = 0; n < data.lane.length; n++) {
    const end = data.begin[n] + Math.max(data.length[n], 2 * perPixel);
    if (data.lane[n] === lane && data.begin[n] <= time && time <= end) return n;
  }
  return -1;
}

function lanes(canvas, t, data, view, row, height, most) {
  const wide = canvas.clientWidth || 800;
  const dense = window.devicePixelRatio || 1;
  [canvas.width, canvas.height] = [wide * dense, height * dense];
  const c = canvas.getContext("2d");
  c.scale(dense, dense);
  c.font = `11px ${getComputedStyle(document.body).fontFamily}`;
  const x = (time) => LEFT + ((time - view.from) / (view.to - view.from)) * (wide - LEFT);
  const bottom = height - AXIS;
  c.textBaseline = "middle";
  const soft = R.colour("soft");
  // The axis: round times.
  const rough = (view.to - view.from) / Math.max(2, (wide - LEFT) / 110);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((f) => f * power).find((s) => s >= rough) || rough;
  for (let time = Math.ceil(view.from / step) * step; time <= view.to; time += step) {
    c.fillStyle = R.colour("line");
    c.fillRect(x(time), 0, 1, bottom);
    c.fillStyle = soft;
    const words = R.short(time);
    c.textAlign = x(time) > wide - 30 ? "right" : "center";
    c.fillText(words, x(time), bottom + 10);
  }
  c.textAlign = "left";
  c.fillStyle = soft;
  c.fillText(t.time.unit || t.time.name, 2, bottom + 10);
  // Names of lanes: once for those that belong together.
  let last = null;
  let free = 0;
  data.lanes.forEach((name, n) => {
    if (name === last) return;
    last = name;
    c.fillStyle = R.colour("line-strong");
    c.fillRect(0, n * row, wide, 1);
    if (n * row < free) return;
    free = n * row + 13;
    c.fillStyle = R.colour("ink");
    c.fillText(name, 2, n * row + Math.max(8, row / 2), LEFT - 8);
  });
  c.save();
  c.beginPath();
  c.rect(LEFT, 0, wide - LEFT, bottom);
  c.clip();
  const palette = R.palette();
  for (let n = 0; n < data.lane.length; n++) {
    const [from, to] = [x(data.begin[n]), x(data.begin[n] + data.length[n])];
    if (to < LEFT || from > wide) continue;
    c.globalAlpha = 0.35 + 0.65 * (data.value[n] / most);
    c.fillStyle = palette[data.groups.indexOf(t.kinds[data.kind[n]][1]) % 8];
    c.fillRect(from, data.lane[n] * row + 1, Math.max(1, to - from - (to - from > 4 ? 1 : 0)), row - 1);
  }
  c.restore();
}
