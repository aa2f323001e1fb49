//! Pictures of a frame and of its passes, taken by `screenshot`, as a page shows them: no larger than what tells one from another.
//!
//! Guarantees: the frame is kept as it is up to [`LARGEST`] pixels in width, attachments up to [`THUMBNAIL`]; what is larger is made smaller by
//! a whole number, each pixel the mean of those that it stands for. Refuses files that are no such PNG.

use crate::attachments::index;
use crate::failure::Failure;
use crate::how::How;
use crate::itself::on_capture;
use analyses::report::Picture;
use std::path::Path;
use trace::actions::Action;

/// Most columns of what a frame shows.
const LARGEST: u32 = 1280;
/// Most columns of an attachment.
const THUMBNAIL: u32 = 480;

/// Folders of what a frame shows, and of what its passes leave.
const FOLDERS: [&str; 2] = ["shown", "passes"];

/// Has pictures of a frame taken, into folders of their own; what was not to be had, and what else is to be said of them.
pub fn take(file: &Path, run: &How, frame: u64, actions: &[Action], to: &Path) -> Vec<Failure> {
    let passes = actions.iter().any(|a| a.pass != 0);
    let all = FOLDERS.into_iter().zip([None, Some("--after=pass")]).take(1 + usize::from(passes));
    let take = |(folder, after): (&str, Option<&str>)| {
        let (frames, output) =
            (format!("--frames={frame}"), format!("--output={}", to.join(folder).display()));
        let words: Vec<&str> = [frames.as_str(), output.as_str()].into_iter().chain(after).collect();
        match on_capture(Some("screenshot"), &words, run, file) {
            Ok((_, diverged)) => diverged,
            Err(why) => Some(Failure::with(
                why.0,
                format_args!("pictures are missing: {}", why.1.trim_end_matches('.')),
            )),
        }
    };
    all.filter_map(take).collect()
}

/// Those that were taken.
pub fn taken(to: &Path, frame: u64) -> Result<Vec<Picture>, Failure> {
    let [shown, passes] = FOLDERS.map(|folder| to.join(folder));
    let mut all = if shown.is_dir() { of_frame(&shown, frame)? } else { vec![] };
    // (without its index it was not written to its end)
    if index::file(&passes, frame).is_file() {
        all.extend(of_passes(&passes, frame)?);
    }
    Ok(all)
}

/// What passes left.
fn of_passes(folder: &Path, frame: u64) -> Result<Vec<Picture>, Failure> {
    let rows = index::read(folder, frame)?.attachments;
    let shown = rows.iter().filter_map(|r| Some((&r.place, r.written.as_ref()?)));
    shown
        .map(|(place, written)| {
            let labels = place.labels.join(" › ");
            let named = [place.image_name.as_str(), labels.as_str()].into_iter().filter(|t| !t.is_empty());
            let about: Vec<String> = named
                .map(str::to_owned)
                .chain([format!("{} × {}, {}", written.width, written.height, written.format)])
                .collect();
            Ok(Picture {
                title: format!(
                    "Behind {}: {}",
                    trace::names::pass(place.pass, &place.pass_labels, &place.pass_name),
                    place.attachment
                ),
                about: about.join(", "),
                pass: Some(place.pass),
                png: smaller(&folder.join(&written.file), THUMBNAIL)?,
            })
        })
        .collect()
}

/// What the frame showed.
fn of_frame(folder: &Path, frame: u64) -> Result<Vec<Picture>, Failure> {
    let fail = |e: std::io::Error| Failure::new(format_args!("{}: {e}", folder.display()));
    let listed = std::fs::read_dir(folder).map_err(fail)?.collect::<Result<Vec<_>, _>>().map_err(fail)?;
    let mut files: Vec<_> =
        listed.into_iter().map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "png")).collect();
    files.sort();
    let one = |file: &std::path::PathBuf| {
        Ok(Picture {
            title: format!("Frame {frame}"),
            about: "what it shows, without the probes of any pass".into(),
            pass: None,
            png: smaller(file, LARGEST)?,
        })
    };
    files.iter().map(one).collect()
}

/// A PNG with no more columns than that.
fn smaller(file: &Path, most: u32) -> Result<Vec<u8>, Failure> {
    let fail = |e: &dyn std::fmt::Display| Failure::new(format_args!("{}: {e}", file.display()));
    let bytes = std::fs::read(file).map_err(|e| fail(&e))?;
    let mut reader = png::Decoder::new(std::io::Cursor::new(&bytes)).read_info().map_err(|e| fail(&e))?;
    let mut pixels = vec![0; reader.output_buffer_size().ok_or_else(|| fail(&"it is too large"))?];
    let info = reader.next_frame(&mut pixels).map_err(|e| fail(&e))?;
    let by = info.width.div_ceil(most);
    let channels = info.color_type.samples();
    if by <= 1 || info.bit_depth != png::BitDepth::Eight {
        return Ok(bytes);
    }
    let (width, height) = ((info.width / by).max(1), (info.height / by).max(1));
    let pixels =
        means(&pixels, [info.width as usize, channels], [width as usize, height as usize], by as usize);
    let mut out = vec![];
    let mut encoder = png::Encoder::new(&mut out, width, height);
    encoder.set_color(info.color_type);
    encoder.set_depth(png::BitDepth::Eight);
    let written = encoder.write_header().and_then(|mut w| w.write_image_data(&pixels));
    written.map_err(|e| fail(&e))?;
    Ok(out)
}

/// Each pixel the mean of a square of `by` times `by`.
fn means(pixels: &[u8], [columns, channels]: [usize; 2], [width, height]: [usize; 2], by: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(width * height * channels);
    for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
        for c in 0..channels {
            let at = |dy: usize, dx: usize| ((y * by + dy) * columns + x * by + dx) * channels + c;
            let square = (0..by * by).filter_map(|n| pixels.get(at(n / by, n % by)));
            let (sum, n) = square.fold((0u64, 0u64), |(sum, n), p| (sum + u64::from(*p), n + 1));
            out.push((sum / n.max(1)) as u8);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::means;

    #[test]
    fn a_pixel_is_the_mean_of_those_that_it_stands_for() {
        // 5 columns of one channel, 2 rows: the last column is left out.
        let pixels = [0, 10, 100, 200, 9, 20, 30, 100, 200, 9];
        assert_eq!(means(&pixels, [5, 1], [2, 1], 2), [15, 150]);
        // Two channels stay apart.
        let pixels = [1, 100, 3, 200, 1, 100, 3, 200];
        assert_eq!(means(&pixels, [2, 2], [1, 1], 2), [2, 150]);
    }
}
