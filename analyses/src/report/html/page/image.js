// Heat maps: a value a pixel, with a legend; hovering or the arrow keys say the value as it is.

// The scale of the pictures that the program writes (png.rs): even in lightness.
const SCALE = [[68, 1, 84], [71, 44, 122], [59, 81, 139], [44, 113, 142], [33, 144, 141], [39, 173, 129], [92, 200, 99], [170, 220, 50], [253, 231, 37]];

/** The scale's colour at a share from 0 to 1. */
R.heat = function (share) {
  const at = Math.max(0, Math.min(1, share)) * (SCALE.length - 1);
  const low = Math.min(Math.floor(at), SCALE.length - 2);
  return SCALE[low].map((c, n) => Math.round(c + (SCALE[low + 1][n] - c) * (at - low)));
};

R.image = function (image) {
  const pixels = R.array(image.pixels);
  let [least, most, sum, count] = [Infinity, -Infinity, 0, 0];
  for (const v of pixels) {
    if (!Number.isFinite(v)) continue;
    least = Math.min(least, v);
    most = Math.max(most, v);
    sum += v;
    count += 1;
  }
  // (a few far outliers are not to make all else one colour)
  const end = endOf(pixels, least, most, count);
  const words = count
    ? `${image.value.name}: ${R.short(least)} to ${R.raw(R.short(most), image.value)}, mean ${R.short(sum / count)}`
    : `${image.value.name}: no pixel has a value`;
  const canvas = R.el("canvas.map", {
    width: image.width, height: image.height, tabindex: 0, role: "img",
    "aria-label": `${image.title}. ${words}. Arrow keys read single pixels.`,
  });
  const mark = R.el("div.mark", { hidden: true });
  const frame = R.el("div.map-frame", { style: `max-width:${widest(image)}px` }, canvas, mark);
  const at = { x: -1, y: -1 };
  const show = (x, y, px, py) => {
    [at.x, at.y] = [x, y];
    const value = pixels[y * image.width + x];
    const lines = [`${image.value.name}: ${R.raw(value, image.value)}`, `x ${x}, y ${y}`];
    R.tip.show(canvas, px, py, lines);
    const [w, h] = [100 / image.width, 100 / image.height];
    mark.hidden = false;
    Object.assign(mark.style, { left: `${x * w}%`, top: `${y * h}%`, width: `${w}%`, height: `${h}%` });
    return lines;
  };
  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect();
    const x = Math.floor(((event.clientX - box.left) / box.width) * image.width);
    const y = Math.floor(((event.clientY - box.top) / box.height) * image.height);
    if (x >= 0 && y >= 0 && x < image.width && y < image.height) show(x, y, event.clientX, event.clientY);
  });
  const hide = () => {
    R.tip.hide(canvas);
    mark.hidden = true;
  };
  canvas.addEventListener("pointerleave", () => R.rests || hide());
  canvas.addEventListener("blur", hide);
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key];
    if (!step) return;
    event.preventDefault();
    const box = canvas.getBoundingClientRect();
    const x = Math.max(0, Math.min(image.width - 1, at.x + step[0]));
    const y = Math.max(0, Math.min(image.height - 1, at.y + step[1]));
    R.say(show(x, y, box.left + ((x + 0.5) / image.width) * box.width, box.top + ((y + 0.5) / image.height) * box.height).join(", "));
  });
  R.later(frame, () => {
    paint(canvas, image, pixels, least, end);
    frame.dataset.drawn = "yes";
  });
  return R.figure(image.title, frame, legend(image, least, end, most, count, widest(image)));
};

/** A picture as it was seen. */
R.picture = function (picture) {
  const shown = R.el("img.picture", { alt: `${picture.title}. ${picture.about}` });
  const file = new FileReader();
  file.onload = () => (shown.src = file.result);
  shown.onload = () => (shown.width = widest({ width: shown.naturalWidth }, 360));
  file.readAsDataURL(new Blob([R.array(picture.png)], { type: "image/png" }));
  return R.figure(picture.title, shown, R.el("p.below", null, picture.about));
};

/** Where the scale ends: the greatest value, or the 99th percentile where that is less than a third of it. */
function endOf(pixels, least, most, count) {
  if (count < 100) return most;
  const sorted = Float64Array.from(pixels).filter(Number.isFinite).sort();
  const usual = sorted[Math.ceil(sorted.length * 0.99) - 1];
  return usual > least && most - least > 3 * (usual - least) ? usual : most;
}

/** How wide a map is drawn at most: small ones larger, in whole pixels of theirs. */
const widest = (image, room = 560) => image.width * Math.max(1, Math.floor(room / image.width));

function paint(canvas, image, pixels, least, most) {
  const context = canvas.getContext("2d");
  const out = context.createImageData(image.width, image.height);
  const colours = Array.from({ length: 1024 }, (_, n) => R.heat(n / 1023));
  for (let n = 0; n < pixels.length; n++) {
    const v = pixels[n];
    const share = most > least ? Math.min(1, (v - least) / (most - least)) : 1;
    const colour = Number.isFinite(v) ? colours[Math.round(share * 1023)] : [150, 150, 150];
    out.data.set([...colour, Number.isFinite(v) ? 255 : 90], n * 4);
  }
  context.putImageData(out, 0, 0);
}

function legend(image, least, most, greatest, count, wide) {
  if (!count) return R.el("p.below", null, "No pixel has a value.");
  const steps = Array.from({ length: 9 }, (_, n) => `rgb(${R.heat(n / 8).join(",")})`).join(",");
  const marks = most > least ? [least, (least + most) / 2, most] : [most];
  return R.el("div.legend", { style: `max-width:${wide}px` },
    R.el("div.legend-bar", { style: `background:linear-gradient(to right,${most > least ? steps : `rgb(${R.heat(1).join(",")}),rgb(${R.heat(1).join(",")})`})` }),
    R.el("div.legend-marks", null, marks.map((v) => R.el("span", null, R.short(v)))),
    R.el("div.below", null, R.named(image.value), greatest > most ? `; the last colour is ${R.short(most)} and more, up to ${R.short(greatest)}` : "",
      count < image.width * image.height ? "; grey: no value" : ""));
}
