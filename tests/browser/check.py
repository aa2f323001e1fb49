#!/usr/bin/env python3
"""Opens a report's page in Chromium, as a reader would, and says what is wrong with it.

check.py PAGE OUT [EXPECT]

Looks at every section in light and dark, 1280 and 700 pixels wide; hovers; uses the keys; prints. OUT gets screenshots and
the PDF. EXPECT is JSON: `sections` (ids that there have to be), `pixels` (of heat maps: `section`, `image` (its number), `x`,
`y`, `value`), `links` (kinds of things that some are to), `texts` (`section` and a text that it shows), `most_bytes`.

Exit 0: nothing is wrong. 1: each line of stdout is something that is. 2: there is no browser.
"""
import json
import re
import sys
from pathlib import Path

CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]
# Contrast that text of normal size has to have (WCAG 2.1, 1.4.3).
CONTRAST = 4.5


# Within twenty seconds; a failure shows at once.
READY = """() => new Promise((done) => {
    const began = performance.now();
    const look = () => document.querySelector('main[data-ready]') ? done(true)
        : document.querySelector('main > .failure') || performance.now() - began > 20000 ? done(false) : setTimeout(look, 50);
    look();
})"""


class Check:
    def __init__(self, page, out):
        self.page, self.out, self.wrong = page, out, []

    def expect(self, sound, words):
        if not sound:
            self.wrong.append(words)
        return sound

    def shot(self, name):
        self.page.screenshot(path=self.out / f"{name}.png", full_page=True)

    def ready(self):
        if not self.page.evaluate(READY):
            self.expect(False, f"the page is not ready: {self.page.locator('main').inner_text()[:300]}")
            return False
        self.page.evaluate("R.drawAll()")
        self.page.wait_for_timeout(150)
        return True

    def sections(self, expected):
        """Every section that the list names is there, named, and shows something."""
        found = self.page.evaluate(
            """() => [...document.querySelectorAll('main > section')].map(s => ({
                id: s.id, heading: s.querySelector('h1, h2')?.textContent ?? '',
                high: s.getBoundingClientRect().height,
                shows: s.querySelectorAll('table, canvas, svg, .card, .notes, .empty').length,
                linked: !!document.querySelector(`#nav a[href="#${s.id}"]`) }))"""
        )
        for s in found:
            self.expect(s["heading"] and s["high"] > 40 and s["shows"], f"section {s['id']} shows nothing: {s}")
            self.expect(s["linked"], f"section {s['id']} is not in the list")
        ids = {s["id"] for s in found}
        for id in expected:
            self.expect(id in ids, f"there is no section {id}; there are {sorted(ids)}")

    def drawn(self):
        """Every chart, map and timeline has been drawn, and is not one colour."""
        blank = self.page.evaluate(
            """() => [...document.querySelectorAll('.chart, .map-frame, .lanes-frame')].filter(box => {
                if (box.dataset.drawn !== 'yes') return true;
                const svg = box.querySelector('svg');
                if (svg) return svg.querySelectorAll('path, rect, polyline, polygon, circle').length < 4;
                const canvas = box.querySelector('canvas');
                if (!canvas) return true;
                const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
                copy.drawImage(canvas, 0, 0);
                const bytes = copy.getImageData(0, 0, canvas.width, canvas.height).data;
                return !bytes.some(b => b !== 0);
            }).map(box => (box.closest('section')?.id ?? '?') + ': ' + (box.getAttribute('aria-label') ?? box.className))"""
        )
        for box in blank:
            self.expect(False, f"not drawn: {box}")

    def fits(self, what):
        """Nothing makes the page wider than the window."""
        over = self.page.evaluate(
            """() => document.documentElement.scrollWidth <= innerWidth ? [] :
                [...document.querySelectorAll('main *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1 &&
                    !e.parentElement.closest('.scroll')).slice(0, 3).map(e => `${e.tagName}.${e.className} in ${e.closest('section')?.id}`)"""
        )
        wide = self.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        self.expect(wide, f"{what}: wider than the window: {over}")

    def contrast(self, what):
        """Text is read against what is behind it."""
        bad = self.page.evaluate(
            """(least) => {
                const parse = (c) => (c.match(/[0-9.]+/g) ?? []).map(Number);
                const light = ([r, g, b]) => [r, g, b].map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
                    .reduce((sum, v, n) => sum + v * [0.2126, 0.7152, 0.0722][n], 0);
                const behind = (e) => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c.length === 3 || c[3] > 0.99) return c; } return [255, 255, 255]; };
                const found = [];
                for (const e of document.querySelectorAll('main h1, main h2, main p, main th, main td.text, main td.number:not(.hot), main li, main dt, main dd, #nav a')) {
                    const [a, b] = [light(parse(getComputedStyle(e).color)), light(behind(e))].sort((x, y) => y - x);
                    if ((a + 0.05) / (b + 0.05) < least) found.push(`${e.tagName} ${e.textContent.slice(0, 20)}`);
                }
                return found.slice(0, 3);
            }""",
            CONTRAST,
        )
        self.expect(not bad, f"{what}: text is hard to read: {bad}")

    def pixel(self, p):
        """Hovering over a pixel of a map says its value as it is; so do the arrow keys."""
        canvas = self.page.locator(f"#{p['section']} canvas.map").nth(p["image"])
        canvas.scroll_into_view_if_needed()
        box = canvas.bounding_box()
        wide, high = canvas.evaluate("c => [c.width, c.height]")
        self.page.mouse.move(box["x"] + (p["x"] + 0.5) * box["width"] / wide, box["y"] + (p["y"] + 0.5) * box["height"] / high)
        tip = self.page.locator("body > .tip").inner_text()
        found = re.search(r": (-?[0-9.e+-]+|no value)", tip)
        value = None if not found or found[1] == "no value" else float(found[1])
        self.expect(value == p["value"] and f"x {p['x']}, y {p['y']}" in tip, f"hovering {p}: {tip!r}")
        canvas.focus()
        self.page.keyboard.press("ArrowRight")
        tip = self.page.locator("body > .tip").inner_text()
        self.expect(f"x {p['x'] + 1}, y {p['y']}" in tip, f"ArrowRight in a map: {tip!r}")

    def charts(self):
        """Each kind of chart says a value when the keys walk through it."""
        boxes = self.page.locator(".chart")
        pointed = 0
        for n in range(min(boxes.count(), 12)):
            box = boxes.nth(n)
            box.scroll_into_view_if_needed()
            box.focus()
            self.page.keyboard.press("ArrowRight")
            tip = self.page.locator("body > .tip:not([hidden])")
            label = box.get_attribute("aria-label")
            if not self.expect(tip.count() == 1, f"no value by key: {label}"):
                continue
            said = tip.inner_text()
            self.expect(re.search(r"[0-9]", said), f"no value by key: {label}: {said!r}")
            # Where the pointer is over what the key went to (and over nothing that lies upon it), it says the same.
            mark = box.locator("g.at")
            mark.scroll_into_view_if_needed()
            place = mark.bounding_box()
            at = [place["x"] + place["width"] / 2, place["y"] + place["height"] / 2]
            own = mark.evaluate("(g, [x, y]) => g.contains(document.elementFromPoint(x, y))", at)
            self.page.mouse.move(0, 0)
            self.page.evaluate("document.activeElement.blur()")
            self.expect(tip.count() == 0, f"a value stays when its figure is left: {label}")
            if own:
                pointed += 1
                self.page.mouse.move(*at)
                self.expect(tip.count() == 1 and tip.inner_text() == said, f"pointing at a value: {label}: {said!r}")
                self.page.mouse.move(0, 0)
        self.expect(pointed or not boxes.count(), "no value could be pointed at")

    def lanes(self):
        """A timeline says what a span is, leads to it, and is zoomed by keys."""
        canvas = self.page.locator("canvas.lanes")
        if not canvas.count():
            return
        canvas.first.scroll_into_view_if_needed()
        box = canvas.first.bounding_box()
        said = ""
        for x in range(100, int(box["width"]), 3):
            self.page.mouse.move(box["x"] + x, box["y"] + 4)
            tip = self.page.locator("body > .tip:not([hidden])")
            if tip.count():
                said = tip.inner_text()
                break
        self.expect(re.search(r"begin [0-9.]+ (cycles|ms)", said), f"no span under the pointer: {said!r}")
        before = canvas.first.evaluate("c => c.toDataURL()")
        canvas.first.focus()
        self.page.keyboard.press("+")
        self.expect(canvas.first.evaluate("c => c.toDataURL()") != before, "plus does not zoom a timeline")
        self.page.keyboard.press("0")
        self.expect(canvas.first.evaluate("c => c.toDataURL()") == before, "0 does not show all of a timeline")
        if self.expect("a click says more" in said or not re.match(r"(draw|pass) \d", said), f"{said!r} leads nowhere"):
            if "a click says more" not in said:
                return
            self.page.mouse.click(box["x"] + x, box["y"] + 4)
            title = self.page.locator("#thing[open] #thing-title")
            if self.expect(title.count(), f"a click on {said!r} says nothing more"):
                named = re.match(r"(?:draw|pass) \d+", said)
                self.expect(not named or title.inner_text().endswith(f"· {named[0]}"), f"{said!r} leads to {title.inner_text()!r}")
                self.page.keyboard.press("Escape")

    def tables(self):
        """Tables are sorted by their headings, say values as they are, and trees close."""
        sort = self.page.locator("figure.table:has(tbody tr:nth-child(3)) th.number button.sort")
        if self.expect(sort.count(), "no table has a column of numbers"):
            head = sort.first
            index = head.evaluate("b => [...b.closest('tr').children].indexOf(b.closest('th'))")
            head.click()
            values = head.evaluate(
                "(b, n) => [...b.closest('table').tBodies[0].rows].map(r => parseFloat(r.cells[n].title)).filter(v => !isNaN(v))", index
            )
            self.expect(values == sorted(values, reverse=True) and values, f"not sorted: {values[:9]}")
            head.click()
            head.click()
        tree = self.page.locator("table[role=treegrid]")
        if tree.count():
            row = tree.first.locator("tbody tr").first
            rows = lambda: tree.first.locator("tbody tr:not([hidden])").count()
            row.focus()
            before = rows()
            levels = tree.first.locator("tbody tr").evaluate_all("all => all.map(r => Number(r.getAttribute('aria-level')))")
            within = next((n for n, level in enumerate(levels[1:]) if level <= levels[0]), len(levels) - 1)
            self.page.keyboard.press("ArrowLeft")
            self.expect(rows() == before - within < before, f"ArrowLeft does not close a tree: {before} rows, then {rows()}")
            self.page.keyboard.press("ArrowRight")
            self.expect(rows() == before, "ArrowRight does not open a tree")

    def links(self, kinds):
        """Every link leads somewhere: to a section, a text, or all that is said of a thing; what a thing's rows name, too."""
        followed = self.page.evaluate(
            """async () => {
                const all = (root) => [...root.querySelectorAll('a[href^="#"]')].map(a => decodeURIComponent(a.hash.slice(1)));
                const box = document.getElementById('thing');
                const to = all(document.getElementById('main')), done = new Map();
                while (to.length && done.size < 400) {
                    const name = to.shift();
                    if (done.has(name)) continue;
                    location.hash = '#' + encodeURIComponent(name);
                    await new Promise(r => setTimeout(r, 30));
                    const found = box.open ? box.querySelectorAll('td, li').length > 0
                        : /^(block|line):/.test(name) ? !!document.querySelector('tr.here')
                        : !!document.getElementById(name);
                    if (box.open) to.push(...all(box));
                    done.set(name, found);
                    if (box.open) box.close();
                }
                history.replaceState(null, '', location.pathname);
                return [...done];
            }"""
        )
        for name, found in followed:
            self.expect(found, f"the link to {name!r} leads nowhere")
        there = {name.split(":")[0] for name, _ in followed}
        self.expect(set(kinds) <= there, f"no links to {sorted(set(kinds) - there)}; there are {sorted(there)}")
        told = self.page.locator("main th[title]").count()
        self.expect(told == 0 or self.page.locator("details.meanings dd").count() >= told, "meanings of columns are missing")

    def keys(self):
        """j and k go through all sections, t changes the theme, ? lists the keys."""
        heading = "document.activeElement.closest('section')?.id"
        ids = self.page.evaluate("[...document.querySelectorAll('main > section')].map(s => s.id)")
        self.page.keyboard.press("g")
        walked = [self.page.evaluate(heading)]
        for _ in ids[1:]:
            self.page.keyboard.press("j")
            walked.append(self.page.evaluate(heading))
        # (the last sections may share the end of the page)
        self.expect(walked[: len(ids) - 2] == ids[: len(ids) - 2], f"j goes {walked}, not {ids}")
        self.page.keyboard.press("k")
        self.expect(self.page.evaluate(heading) in ids[:-1], "k does not go back")
        paper = "getComputedStyle(document.body).backgroundColor"
        before = self.page.evaluate(paper)
        self.page.keyboard.press("t")
        self.page.keyboard.press("t")
        self.expect(self.page.evaluate(paper) != before, "t does not make it dark")
        self.page.keyboard.press("t")
        self.page.keyboard.press("?")
        self.expect(self.page.locator("dialog[open]").count() == 1, "? does not list the keys")
        self.page.keyboard.press("Escape")
        self.expect(self.page.locator("dialog[open]").count() == 0, "Escape does not close the list of keys")

    def paper(self):
        """It prints: all is drawn, and nothing is cut."""
        self.page.emulate_media(media="print")
        pdf = self.page.pdf(path=self.out / "page.pdf", format="A4", prefer_css_page_size=True)
        pages = len(re.findall(rb"/Type\s*/Page[^s]", pdf))
        self.expect(pages >= 2, f"{pages} pages of paper")
        self.page.emulate_media(media="screen")


def look(playwright, page_file, out, expected):
    executable = next((c for c in CHROMIUM if Path(c).exists()), None)
    if executable is None:
        print("no Chromium (Debian's package chromium)")
        return 2
    browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox", "--disable-gpu"])
    context = browser.new_context(viewport={"width": 1280, "height": 900}, offline=True)
    page = context.new_page()
    check = Check(page, out)
    page.on("console", lambda m: check.expect(m.type not in ("error", "warning"), f"console: {m.type}: {m.text}"))
    page.on("pageerror", lambda e: check.expect(False, f"error: {e}"))
    page.on("request", lambda r: check.expect(r.url.split("#")[0] == page_file.as_uri() or r.url.startswith(("data:", "blob:")), f"asks for {r.url}"))
    size = page_file.stat().st_size
    check.expect(size <= expected.get("most_bytes", 3_000_000), f"{size} bytes")
    page.goto(page_file.as_uri())
    if not check.ready():
        print("\n".join(dict.fromkeys(check.wrong)))
        return 1
    check.sections(expected.get("sections", []))
    check.drawn()
    check.fits("1280")
    check.contrast("light")
    check.shot("light")
    for p in expected.get("pixels", []):
        check.pixel(p)
    for t in expected.get("texts", []):
        check.expect(t["text"] in page.locator(f"#{t['section']}").inner_text(), f"section {t['section']} does not say {t['text']!r}")
    check.charts()
    check.lanes()
    check.tables()
    check.links(expected.get("links", []))
    check.keys()
    check.paper()
    page.emulate_media(color_scheme="dark")
    page.wait_for_timeout(200)
    check.drawn()
    check.contrast("dark")
    check.shot("dark")
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 700, "height": 900})
    page.wait_for_timeout(300)
    check.fits("700")
    check.shot("narrow")
    browser.close()
    for words in dict.fromkeys(check.wrong):
        print(words)
    return 1 if check.wrong else 0


def main():
    page, out = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    expected = json.loads(Path(sys.argv[3]).read_text()) if len(sys.argv) > 3 else {}
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        print("no Playwright (tests/browser/setup)")
        return 2
    with sync_playwright() as playwright:
        return look(playwright, page, out, expected)


if __name__ == "__main__":
    sys.exit(main())
