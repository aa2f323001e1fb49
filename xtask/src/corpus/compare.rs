//! Reads what captures/corpus left in its folder, and compares each replay's pictures with the program's own.
//!
//! A program's frame N (counted from 0 by the layer that takes pictures) is the replay's N + 2 - A, where the recording
//! begins with frame A (counted from 1). A picture that is no frame's (`own.ppm`, of a program that presents nothing)
//! is compared with the one that `screenshot` wrote. Guarantees: a frame that a replay did not show counts as unlike.
//! Refuses a recording whose description is not whole.

use std::path::{Path, PathBuf};

use super::picture::Picture;
use super::rows::{Row, Shown};

/// The rows of a whole folder, in the order of the recordings' names.
pub fn folder(out: &Path) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    for dir in sorted(out)? {
        if dir.join("recording.tsv").is_file() {
            rows.extend(recording(&dir).map_err(|e| format!("{}: {e}", dir.display()))?);
        }
    }
    Ok(rows)
}

/// What lies in a folder, by name.
pub fn sorted(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    paths.sort();
    Ok(paths)
}

/// One recording: a row for each replay, or a single one that has no replayer.
fn recording(dir: &Path) -> Result<Vec<Row>, String> {
    let text = std::fs::read_to_string(dir.join("recording.tsv")).map_err(|e| e.to_string())?;
    let (base, first) = described(text.trim_end_matches('\n'))?;
    let replays = std::fs::read_to_string(dir.join("replays.tsv")).unwrap_or_default();
    if replays.is_empty() {
        return Ok(vec![base]);
    }
    let own = own_pictures(dir, first)?;
    let mut rows = Vec::new();
    let mut shown = Vec::new();
    for (n, line) in replays.lines().enumerate() {
        let mut row = replayed(&base, line)?;
        let pictures = shown_by(&dir.join(format!("shots.{n}")), &own);
        row.shown = against(&own, &pictures);
        rows.push(row);
        shown.push(pictures);
    }
    for n in 0..rows.len() {
        if matches!(rows[n].shown, Shown::Compared { largest: 1.., .. }) {
            rows[n].same_as = same(n, &shown, &rows);
        }
    }
    Ok(rows)
}

/// A recording's own line, and its first frame.
fn described(line: &str) -> Result<(Row, u64), String> {
    let f: Vec<&str> = line.split('\t').collect();
    let [program, kind, from, set, first, last, _, layer, device, bytes, exit, said] = f[..] else {
        return Err(format!("recording.tsv has {} fields, not 12", f.len()));
    };
    let first: u64 = first.parse().map_err(|_| "no first frame")?;
    let s = str::to_string;
    let row = Row {
        program: s(program),
        kind: s(kind),
        from: s(from),
        set: s(set),
        frames: if last == "0" { s("all") } else { format!("{first}-{last}") },
        layer: s(layer),
        recorded_on: s(device),
        bytes: bytes.parse().map_err(|_| "no size")?,
        program_exit: exit.parse().map_err(|_| "no exit code")?,
        replayer: String::new(),
        version: String::new(),
        options: String::new(),
        replayed_on: String::new(),
        exit: 0,
        seconds: 0.0,
        shown: Shown::Nothing,
        same_as: String::new(),
        bridged: String::new(),
        said: s(said),
    };
    Ok((row, first))
}

/// The same with a replay's line.
fn replayed(base: &Row, line: &str) -> Result<Row, String> {
    let f: Vec<&str> = line.split('\t').collect();
    let [replayer, version, options, device, exit, seconds, bridged, said] = f[..] else {
        return Err(format!("replays.tsv has {} fields, not 8", f.len()));
    };
    Ok(Row {
        replayer: replayer.to_string(),
        version: version.to_string(),
        options: options.to_string(),
        replayed_on: device.to_string(),
        exit: exit.parse().map_err(|_| "no exit code")?,
        seconds: seconds.parse().map_err(|_| "no seconds")?,
        bridged: bridged.to_string(),
        said: said.to_string(),
        ..base.clone()
    })
}

/// What the program showed: the replay's frame (none: no frame's), and the picture.
type Own = Vec<(Option<u64>, Picture)>;

fn own_pictures(dir: &Path, first: u64) -> Result<Own, String> {
    let folder = dir.join("own");
    let mut own = Vec::new();
    if !folder.is_dir() {
        return Ok(own);
    }
    for file in sorted(&folder)? {
        if file.extension().is_some_and(|e| e == "ppm") {
            let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let frame = stem.parse::<u64>().ok().and_then(|n| (n + 2).checked_sub(first));
            own.push((frame, Picture::read(&file).map_err(|e| format!("{}: {e}", file.display()))?));
        }
    }
    Ok(own)
}

/// What a replay showed of the same frames, in their order.
fn shown_by(shots: &Path, own: &Own) -> Vec<Option<Picture>> {
    let files = sorted(shots).unwrap_or_default();
    let of = |frame: &Option<u64>| -> Option<&PathBuf> {
        match frame {
            // gfxrecon-replay 1.0 has the range in the name, ours a swapchain where there are several.
            Some(n) => files.iter().find(|f| is_frame(f, *n)),
            None => files.iter().rfind(|f| f.extension().is_some_and(|e| e == "png")),
        }
    };
    own.iter().map(|(frame, _)| of(frame).and_then(|f| Picture::read(f).ok())).collect()
}

/// Whether a file's name ends in `frame_N`, or goes on with `_` behind it.
fn is_frame(file: &Path, frame: u64) -> bool {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let Some((_, rest)) = stem.split_once(&format!("frame_{frame}")) else { return false };
    rest.is_empty() || rest.starts_with('_')
}

fn against(own: &Own, shown: &[Option<Picture>]) -> Shown {
    // A replayer that cannot show what presents nothing has not shown it wrong.
    if own.is_empty() || own.iter().zip(shown).all(|((frame, _), s)| frame.is_none() && s.is_none()) {
        return Shown::Nothing;
    }
    let (mut largest, mut off_percent, mut encoded) = (0, 0.0f64, false);
    for ((_, own), shown) in own.iter().zip(shown) {
        let Some(apart) = shown.as_ref().and_then(|s| own.distance(s)) else { return Shown::Unlike };
        if apart.largest > 2 && shown.as_ref().is_some_and(|s| own.other_encoding(s)) {
            encoded = true;
            continue;
        }
        largest = largest.max(apart.largest);
        off_percent = off_percent.max(apart.off_percent);
    }
    if encoded && largest <= 2 {
        return Shown::Encoded;
    }
    let blank = own.iter().all(|(_, picture)| picture.blank());
    Shown::Compared { frames: own.len() as u32, blank, largest, off_percent }
}

/// Which other replayers show what this one shows, value by value.
fn same(n: usize, shown: &[Vec<Option<Picture>>], rows: &[Row]) -> String {
    let mut names: Vec<String> = (0..rows.len())
        .filter(|&m| rows[m].replayer != rows[n].replayer && shown[m] == shown[n])
        .map(|m| format!("{} {}", rows[m].replayer, rows[m].version))
        .collect();
    names.dedup();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder_of(name: &str) -> PathBuf {
        let dir = std::env::temp_dir().join(format!("reray-corpus-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        dir
    }

    fn write(file: PathBuf, bytes: &[u8]) {
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("folder");
        std::fs::write(file, bytes).expect("file");
    }

    /// A picture of two pixels.
    fn ppm(second: u8) -> Vec<u8> {
        [b"P6\n2 1\n255\n".as_slice(), &[1, 2, 3, second, 5, 6]].concat()
    }

    const RECORDING: &str = "cube\ttrimmed\tcubes 1 (Debian)\tdebian\t6\t9\t-\t1.0.5\tdevice\t99\t0\t\n";

    fn replay(replayer: &str, exit: i32) -> String {
        format!("{replayer}\t1\t\tdevice\t{exit}\t0.5\tqueues\t\n")
    }

    #[test]
    fn frames_of_a_trimmed_recording_are_counted_from_its_first() {
        let out = folder_of("trimmed");
        let dir = out.join("cube.trimmed");
        write(dir.join("recording.tsv"), RECORDING.as_bytes());
        write(
            dir.join("replays.tsv"),
            (replay("ours", 0) + &replay("theirs", 0) + &replay("third", 1)).as_bytes(),
        );
        // The program's ninth frame is the layer's 8, and the fourth of the capture.
        write(dir.join("own/8.ppm"), &ppm(4));
        write(dir.join("shots.0/screenshot_frame_4.ppm"), &ppm(8));
        write(dir.join("shots.0/screenshot_frame_40.ppm"), &ppm(4));
        write(dir.join("shots.1/screenshot_frame_4_of_4.ppm"), &ppm(8));
        let rows = folder(&out).expect("rows");
        let _ = std::fs::remove_dir_all(&out);
        let off = 100.0 / 6.0;
        assert_eq!(rows[0].shown, Shown::Compared { frames: 1, blank: false, largest: 4, off_percent: off });
        assert_eq!(rows[0].same_as, "theirs 1");
        assert_eq!(rows[1].same_as, "ours 1");
        assert_eq!(rows[2].shown, Shown::Unlike);
        assert_eq!((rows[0].frames.as_str(), rows[2].exit), ("6-9", 1));
    }

    #[test]
    fn what_presents_nothing_is_compared_where_it_is_shown() {
        let out = folder_of("buffer");
        let dir = out.join("julia.whole");
        write(dir.join("recording.tsv"), RECORDING.replace("\t6\t9\t", "\t1\t0\t").as_bytes());
        write(dir.join("replays.tsv"), (replay("ours", 0) + &replay("theirs", 0)).as_bytes());
        write(dir.join("own/own.ppm"), &ppm(4));
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, 2, 1);
        encoder.set_color(png::ColorType::Rgb);
        encoder.write_header().expect("head").write_image_data(&[1, 2, 3, 4, 5, 6]).expect("pixels");
        write(dir.join("shots.0/frame_2.png"), &file);
        write(dir.join("shots.1/other.txt"), b"");
        let rows = folder(&out).expect("rows");
        let _ = std::fs::remove_dir_all(&out);
        assert_eq!(rows[0].shown, Shown::Compared { frames: 1, blank: false, largest: 0, off_percent: 0.0 });
        assert_eq!((rows[1].shown, rows[0].frames.as_str()), (Shown::Nothing, "all"));
    }

    #[test]
    fn a_recording_that_was_not_made_has_one_row() {
        let out = folder_of("none");
        write(out.join("cube.whole/recording.tsv"), RECORDING.as_bytes());
        let rows = folder(&out).expect("rows");
        assert!(rows.len() == 1 && !rows[0].recorded());
        write(out.join("cube.whole/recording.tsv"), b"cube\twhole\n");
        assert!(folder(&out).expect_err("cut").contains("2 fields"));
        let _ = std::fs::remove_dir_all(&out);
    }
}
