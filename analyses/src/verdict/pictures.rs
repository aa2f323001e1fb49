//! Pictures of two results beside each other: the same, within a tolerance, or not; and where not.
//!
//! A picture is a frame's under a plan, as PNG of 8 bits a channel. Its row says which share of its values (channels of pixels)
//! differs: a *regression* if more differ, or differ by more, than the tolerance allows, else *no change*. A picture that was another
//! one when it was taken again is *unsteady*: it is named, and decides nothing. One that the base has and the new result lacks is
//! *inconclusive*.
//!
//! Refuses files that are no such PNG, and sides beyond [`LONGEST`].

use super::compare::{Compared, Row};
use super::judge::{Judged, Verdict};
use super::metrics::Scale;
use crate::report::Picture;
use crate::report::png::{Canvas, LONGEST};
use trace::suite::ShotNote;
use trace::tolerance::Tolerance;

/// Bits of a channel.
const BITS: u32 = 8;

/// A picture of one side.
#[derive(Clone, Copy)]
pub struct Shown<'p> {
    /// What it is of.
    pub note: &'p ShotNote,
    /// The file.
    pub png: &'p [u8],
}

/// Red, green and blue of each pixel.
struct Pixels {
    size: [u32; 2],
    rgb: Vec<u8>,
}

/// What differs between two pictures of one size.
struct Difference {
    values: u64,
    differing: u64,
    /// Those of them that are further off than the tolerance has them.
    beyond: u64,
    most_off: u8,
    first: [u32; 2],
    around: [u32; 4],
}

/// Adds a row for each picture to a comparison of a capture, and decides it anew; what is to be seen of those that differ.
pub fn compare(
    to: &mut Compared,
    capture: &str,
    [base, new]: [&[Shown<'_>]; 2],
    tolerance: Tolerance,
) -> Result<Vec<Picture>, String> {
    let mut pictures = vec![];
    for was in base {
        let key = |n: &ShotNote| (n.plan.clone(), n.frame, n.swapchain);
        let of = format!("plan {}, frame {}", was.note.plan, was.note.frame);
        let mut add = |share: f64, verdict, why: String| {
            to.rows.push(row(capture, was.note, share, verdict, why));
        };
        let Some(is) = new.iter().find(|s| key(s.note) == key(was.note)) else {
            add(f64::NAN, Verdict::Inconclusive, "the new result has no such picture".into());
            continue;
        };
        if was.note.blake3 == is.note.blake3 {
            add(0.0, Verdict::NoChange, String::new());
            continue;
        }
        let [x, y] = [pixels(was.png), pixels(is.png)];
        let (x, y) = (x.map_err(|e| format!("{of}, base: {e}"))?, y.map_err(|e| format!("{of}: {e}"))?);
        if x.size != y.size {
            let [a, b] = [x.size, y.size].map(|[w, h]| format!("{w}x{h}"));
            add(100.0, Verdict::Regression, format!("it was {a} and is {b}"));
            continue;
        }
        // (its bytes alone may differ: another encoder's)
        let Some(d) = difference(&x, &y, tolerance) else {
            add(0.0, Verdict::NoChange, String::new());
            continue;
        };
        let few = d.differing <= tolerance.most_values(BITS, d.values);
        let within = few && d.beyond <= tolerance.most_far(d.values);
        let words = said(&d);
        let share = 100.0 * d.differing as f64 / d.values as f64;
        let unsteady: Vec<&str> = [(was, "the base"), (is, "the new result")]
            .into_iter()
            .filter(|s| !s.0.note.steady)
            .map(|s| s.1)
            .collect();
        let (verdict, why) = match (unsteady.is_empty(), within) {
            (false, _) => (
                Verdict::NoChange,
                format!(
                    "it is unsteady: replays of {} show different pictures; {words}",
                    unsteady.join(" and of ")
                ),
            ),
            (true, true) => (Verdict::NoChange, format!("within the tolerance: {words}")),
            (true, false) => (Verdict::Regression, words),
        };
        let about = why.clone();
        add(share, verdict, why);
        let three = [("before", was.png.to_vec()), ("after", is.png.to_vec()), ("where", mask(&x, &y)?)];
        pictures.extend(three.into_iter().map(|(what, png)| Picture {
            pass: None,
            title: format!("{capture}, {of}: {what}"),
            about: if what == "where" { format!("red: what differs. {about}") } else { about.clone() },
            png,
        }));
    }
    to.decide();
    Ok(pictures)
}

fn row(capture: &str, of: &ShotNote, share: f64, verdict: Verdict, why: String) -> Row {
    let change = share.is_finite().then_some(share / 100.0);
    let judged = Judged { why, ..Judged::counted(0.0, share, Scale::Difference, change, verdict) };
    Row {
        capture: capture.to_owned(),
        plan: of.plan.clone(),
        level: "picture",
        frame: Some(of.frame),
        place: None,
        part: String::new(),
        metric: "picture".into(),
        unit: "%",
        share: None,
        bands: None,
        judged,
        values: [vec![], vec![]],
    }
}

fn pixels(png: &[u8]) -> Result<Pixels, String> {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(png));
    decoder.set_transformations(png::Transformations::EXPAND | png::Transformations::STRIP_16);
    let mut reader = decoder.read_info().map_err(|e| e.to_string())?;
    let size = [reader.info().width, reader.info().height];
    if size.iter().any(|s| *s > LONGEST) {
        return Err(format!("{}x{} pixels; {LONGEST} on a side at most", size[0], size[1]));
    }
    let mut bytes = vec![0; reader.output_buffer_size().ok_or("a picture that is too large")?];
    let frame = reader.next_frame(&mut bytes).map_err(|e| e.to_string())?;
    let channels = frame.color_type.samples();
    let rgb = bytes[..frame.buffer_size()].chunks_exact(channels).flat_map(|p| match p {
        [r, g, b] | [r, g, b, _] => [*r, *g, *b],
        p => [p[0]; 3],
    });
    Ok(Pixels { size, rgb: rgb.collect() })
}

fn difference(a: &Pixels, b: &Pixels, tolerance: Tolerance) -> Option<Difference> {
    let mut found: Option<Difference> = None;
    for (n, (was, is)) in a.rgb.chunks_exact(3).zip(b.rgb.chunks_exact(3)).enumerate() {
        if was == is {
            continue;
        }
        let at = [n as u32 % a.size[0], n as u32 / a.size[0]];
        let d = found.get_or_insert(Difference {
            values: a.rgb.len() as u64,
            differing: 0,
            beyond: 0,
            most_off: 0,
            first: at,
            around: [at[0], at[1], at[0], at[1]],
        });
        for off in was.iter().zip(is).map(|(x, y)| x.abs_diff(*y)).filter(|off| *off > 0) {
            d.differing += 1;
            d.beyond += u64::from(f64::from(off) > tolerance.most_off(BITS));
            d.most_off = d.most_off.max(off);
        }
        let [left, top, right, bottom] = d.around;
        d.around = [left.min(at[0]), top.min(at[1]), right.max(at[0]), bottom.max(at[1])];
    }
    found
}

fn said(d: &Difference) -> String {
    let [x, y] = d.first;
    let [left, top, right, bottom] = d.around;
    let s = if d.differing == 1 { "differs" } else { "differ" };
    format!(
        "{} of {} values {s}, by up to {} of 255, first at pixel ({x}, {y}), in columns {left} to {right} and rows {top} to {bottom}",
        d.differing, d.values, d.most_off
    )
}

/// The new picture in grey, with what differs in red, the more the brighter.
fn mask(a: &Pixels, b: &Pixels) -> Result<Vec<u8>, String> {
    let mut canvas = Canvas::new(a.size[0], a.size[1]).ok_or("a picture of no size")?;
    for (n, (was, is)) in a.rgb.chunks_exact(3).zip(b.rgb.chunks_exact(3)).enumerate() {
        let off = was.iter().zip(is).map(|(x, y)| x.abs_diff(*y)).max().unwrap_or(0);
        let grey = (is.iter().map(|c| u32::from(*c)).sum::<u32>() / 6) as u8;
        let colour = if off == 0 { [grey; 3] } else { [128 + off / 2, 0, 0] };
        canvas.fill(n as u32 % a.size[0], n as u32 / a.size[0], 1, 1, colour);
    }
    canvas.png()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png(of: impl Fn(u32, u32) -> [u8; 3]) -> Vec<u8> {
        let mut canvas = Canvas::new(64, 32).unwrap();
        (0..32).for_each(|y| (0..64).for_each(|x| canvas.fill(x, y, 1, 1, of(x, y))));
        canvas.png().unwrap()
    }

    fn note(png: &[u8], steady: bool) -> ShotNote {
        let blake3 = blake3::hash(png).to_hex().to_string();
        ShotNote { plan: "plain".into(), frame: 2, blake3, steady, ..ShotNote::default() }
    }

    fn judged(a: &[u8], b: &[u8], steady: bool, tolerance: Tolerance) -> (Compared, Vec<Picture>) {
        let (x, y) = (note(a, true), note(b, steady));
        let mut all = Compared::default();
        let sides = [&[Shown { note: &x, png: a }][..], &[Shown { note: &y, png: b }]];
        let pictures = compare(&mut all, "a.gfxr", sides, tolerance).unwrap();
        (all, pictures)
    }

    #[test]
    fn the_same_a_step_off_and_another_one() {
        let plain = png(|x, y| [x as u8, y as u8, 7]);
        let step = png(|x, y| [x as u8 + u8::from((x, y) == (5, 3)), y as u8, 7]);
        let other = png(|x, y| if x > 40 && y > 20 { [200, 0, 0] } else { [x as u8, y as u8, 7] });
        let usual = Tolerance::default();
        let (all, pictures) = judged(&plain, &plain, true, Tolerance::EXACT);
        assert_eq!((all.verdict, pictures.len(), all.rows.len()), (Verdict::NoChange, 0, 1));
        let (all, pictures) = judged(&plain, &step, true, usual);
        assert_eq!((all.verdict, pictures.len()), (Verdict::NoChange, 3));
        assert!(all.rows[0].judged.why.starts_with("within the tolerance: 1 of 6144 values differs"));
        assert_eq!(judged(&plain, &step, true, Tolerance::EXACT).0.verdict, Verdict::Regression);
        let (all, pictures) = judged(&plain, &other, true, usual);
        assert_eq!(all.verdict, Verdict::Regression);
        assert!(
            all.rows[0].judged.why.contains("first at pixel (41, 21), in columns 41 to 63 and rows 21 to 31")
        );
        // What is red is what differs.
        let seen = pixels(&pictures[2].png).unwrap();
        let red = |x: usize, y: usize| seen.rgb[3 * (y * 64 + x)..][..3] == [207, 0, 0];
        assert!(red(41, 21) && !red(40, 21) && !red(41, 20), "{:?}", &seen.rgb[3 * (21 * 64 + 41)..][..3]);
    }

    #[test]
    fn what_is_unsteady_or_missing_is_no_regression() {
        let (plain, other) = (png(|_, _| [1; 3]), png(|_, _| [90; 3]));
        let (all, _) = judged(&plain, &other, false, Tolerance::EXACT);
        assert_eq!(all.verdict, Verdict::NoChange);
        assert!(
            all.rows[0].judged.why.starts_with("it is unsteady: replays of the new result"),
            "{:?}",
            all.rows[0]
        );
        let mut all = Compared::default();
        let x = note(&plain, true);
        compare(&mut all, "a.gfxr", [&[Shown { note: &x, png: &plain }], &[]], Tolerance::EXACT).unwrap();
        assert_eq!(all.verdict, Verdict::Inconclusive);
    }

    #[test]
    fn what_is_no_picture_is_refused() {
        assert!(pixels(b"no").is_err());
    }
}
