//! docs/corpus.md: which programs were recorded, and what each replayer made of the recordings.
//!
//! Guarantees: rows in any order give the same page; a total is the number of rows that its column means, and each
//! recording is counted once for each replayer. What a person knows of a row (captures/programs/notes.tsv) stands beside
//! it and changes no verdict. Refuses notes without a program, a kind and a text.

use std::collections::{BTreeMap, BTreeSet};

use super::rows::{Row, Shown, Verdict};
use super::table::markdown;

/// What is known of a program's recordings: program, kind (or `*`), text.
pub struct Note {
    program: String,
    kind: String,
    text: String,
}

/// Reads notes; lines that begin with # are comments.
pub fn notes(text: &str) -> Result<Vec<Note>, String> {
    let lines = text.lines().filter(|l| !l.is_empty() && !l.starts_with('#'));
    lines
        .map(|line| match line.split('\t').collect::<Vec<_>>()[..] {
            [program, kind, text] if !text.is_empty() => {
                Ok(Note { program: program.to_string(), kind: kind.to_string(), text: text.to_string() })
            }
            _ => Err(format!("a note is PROGRAM, KIND and TEXT, with tabs between: {line}")),
        })
        .collect()
}

/// A column of the big table: a replayer, its version and its options.
type Column<'a> = (&'a str, &'a str, &'a str);
/// A recording: program, kind.
type Recording<'a> = (&'a str, &'a str);

/// The page's text.
pub fn write(rows: &[Row], notes: &[Note]) -> String {
    let mut text = HEAD.to_string();
    let mut pairs: BTreeMap<(&str, &str), Vec<&Row>> = BTreeMap::new();
    for row in rows.iter().filter(|r| r.recorded()) {
        pairs.entry((&row.recorded_on, &row.replayed_on)).or_default().push(row);
    }
    for ((recorded_on, replayed_on), rows) in &pairs {
        text += &format!("## Recorded on {recorded_on}, replayed on {replayed_on}\n\n");
        text += &section(rows, notes);
    }
    text += &unrecorded(rows, notes);
    text.trim_end().to_string() + "\n"
}

const HEAD: &str = "# Real programs

Written by `cargo xtask corpus page` from the raw results in `benches/runs` (`*-corpus`); no number
here was typed. `captures/corpus` records the programs of `captures/programs/list.tsv` and
replays them; it can be run on any machine that has a Vulkan driver.

A program is recorded twice: *whole*, from its first frame on, by the capture layer that Debian packages (by the newest, 1.0,
where the packaged one crashes or does not know enough), and *trimmed*, a few later frames with the state before them, by the newest. Its own
picture is taken below the capture layer, in the same run, and is compared with what each replay shows, value by value: three
frames of each recording (the first, the middle one, the last), or the one image that a program without a window reads back.

| word | means |
|---|---|
| equal | the replay ended with 0, and every value of every picture is the program's |
| rounding | ended with 0; at most 0.1 % of a picture's values are off by more than 2 of 255, or all of them are the same in the other of sRGB's two encodings (gfxrecon-replay 1.0 writes pictures of sRGB swapchains so) |
| ran | ended with 0; there is no picture to compare with, or the program's own has one colour |
| differs | ended with 0, with another picture: the share of values that are off by more than 2 |
| refused | said with exit code 77 that the device, or the capture, does not permit a replay |
| failed | ended by itself with another exit code, which is named |
| crashed | ended by a signal, 128 and the signal's number |
| hung | did not end in the time that it had |

";

fn section(rows: &[&Row], notes: &[Note]) -> String {
    let columns: BTreeSet<Column> = rows.iter().map(|r| column(r)).collect();
    // Ours first.
    let (ours, peers): (Vec<Column>, Vec<Column>) = columns.into_iter().partition(|c| c.0 == "reray-replay");
    let columns = [ours, peers].concat();
    let mut recordings: BTreeMap<Recording, BTreeMap<Column, &Row>> = BTreeMap::new();
    for row in rows {
        recordings.entry((&row.program, &row.kind)).or_default().insert(column(row), row);
    }
    let programs: BTreeSet<&str> = recordings.keys().map(|r| r.0).collect();
    let mut text = format!("{} programs, {} recordings.\n\n", programs.len(), recordings.len());
    for kind in ["whole", "trimmed"] {
        text += &totals(kind, &columns, &recordings);
    }
    text += &apart(&columns, &recordings, notes);
    text + "### Every recording\n\n" + &every(&columns, &recordings)
}

fn column(row: &Row) -> Column<'_> {
    (&row.replayer, &row.version, &row.options)
}

/// A column's name: without the version where it is ours, which changes daily.
fn name(column: Column) -> String {
    match column {
        ("reray-replay", _, "") => "reray-replay".to_string(),
        ("reray-replay", _, options) => format!("reray-replay {options}"),
        (replayer, version, _) => format!("{replayer} {version}"),
    }
}

fn totals(
    kind: &str,
    columns: &[Column],
    recordings: &BTreeMap<Recording, BTreeMap<Column, &Row>>,
) -> String {
    let mut lines = Vec::new();
    for &column in columns {
        let verdicts: Vec<Verdict> = recordings
            .iter()
            .filter(|((_, k), _)| *k == kind)
            .filter_map(|(_, by)| by.get(&column).map(|r| r.verdict()))
            .collect();
        if verdicts.is_empty() {
            continue;
        }
        let count = |v: Verdict| verdicts.iter().filter(|x| **x == v).count();
        let options = if column.0 == "reray-replay" { String::new() } else { format!(" `{}`", column.2) };
        let mut line = vec![name(column) + &options, verdicts.len().to_string()];
        line.extend(Verdict::ALL.map(|v| count(v).to_string()));
        // What could be compared and was shown right, of what could be compared or did not come so far.
        let right = count(Verdict::Equal) + count(Verdict::Rounding);
        let all = verdicts.len() - count(Verdict::Ran);
        line.push(if all == 0 {
            String::new()
        } else {
            format!("{:.1} %", right as f64 * 100.0 / all as f64)
        });
        lines.push(line);
    }
    if lines.is_empty() {
        return String::new();
    }
    let mut head = vec![kind.to_string(), ">recordings".to_string()];
    head.extend(Verdict::ALL.map(|v| format!(">{}", v.name())));
    head.push(">the program's picture".to_string());
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    markdown(&head, &lines)
}

/// The recordings that ours, by default, does not show as the program did, and why.
fn apart(
    columns: &[Column],
    recordings: &BTreeMap<Recording, BTreeMap<Column, &Row>>,
    notes: &[Note],
) -> String {
    let Some(ours) = columns.iter().find(|c| c.0 == "reray-replay" && c.2.is_empty()) else {
        return String::new();
    };
    let mut lines = Vec::new();
    for ((program, kind), by) in recordings {
        let Some(row) = by.get(ours) else { continue };
        if matches!(row.verdict(), Verdict::Equal | Verdict::Ran) {
            continue;
        }
        let mut why = vec![];
        if !row.said.is_empty() {
            why.push(row.said.clone());
        }
        if !row.same_as.is_empty() {
            why.push(format!("{} shows the same picture.", row.same_as));
        }
        why.extend(note(notes, program, kind));
        lines.push(vec![program.to_string(), kind.to_string(), cell(row), why.join(" ")]);
    }
    if lines.is_empty() {
        return String::new();
    }
    "### What reray-replay does not show as the program did\n\n".to_string()
        + &markdown(&["program", "recorded", "came of it", "why"], &lines)
}

fn note(notes: &[Note], program: &str, kind: &str) -> Option<String> {
    let fits = |n: &&Note| n.program == program && (n.kind == "*" || n.kind == kind);
    notes.iter().find(fits).map(|n| n.text.clone())
}

fn cell(row: &Row) -> String {
    let verdict = row.verdict();
    let bridged = if row.bridged.is_empty() { String::new() } else { format!(", bridged: {}", row.bridged) };
    let came = match (verdict, row.shown) {
        (Verdict::Differs | Verdict::Rounding, Shown::Compared { off_percent, .. }) => {
            format!("{} {off_percent:.3} %", verdict.name())
        }
        (Verdict::Differs, _) => "differs: other size, or not shown".to_string(),
        (Verdict::Failed | Verdict::Crashed, _) => format!("{} {}", verdict.name(), row.exit),
        _ => verdict.name().to_string(),
    };
    came + &bridged
}

fn every(columns: &[Column], recordings: &BTreeMap<Recording, BTreeMap<Column, &Row>>) -> String {
    let mut lines = Vec::new();
    for ((program, kind), by) in recordings {
        let Some(any) = by.values().next() else { continue };
        let mut line = vec![
            program.to_string(),
            any.from.clone(),
            format!("{kind}, {}", any.frames),
            any.layer.clone(),
            format!("{:.2}", any.bytes as f64 / 1e6),
        ];
        line.extend(columns.iter().map(|c| by.get(c).map_or(String::new(), |row| cell(row))));
        lines.push(line);
    }
    let mut head: Vec<String> = ["program", "from", "recorded", "layer", ">MB"].map(str::to_string).to_vec();
    head.extend(columns.iter().map(|c| name(*c)));
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    markdown(&head, &lines)
}

/// Recordings of which nothing came.
fn unrecorded(rows: &[Row], notes: &[Note]) -> String {
    let mut lines: Vec<Vec<String>> = rows
        .iter()
        .filter(|r| !r.recorded())
        .map(|r| {
            let exit = r.program_exit.to_string();
            let why = note(notes, &r.program, &r.kind).unwrap_or_default();
            vec![r.program.clone(), r.kind.clone(), r.from.clone(), exit, r.said.clone(), why]
        })
        .collect();
    lines.sort();
    lines.dedup();
    if lines.is_empty() {
        return String::new();
    }
    let head = ["program", "recorded", "from", ">its exit code", "what it said", "why"];
    "## Not recorded\n\nThe program did not run, or not under the capture layer.\n\n".to_string()
        + &markdown(&head, &lines)
}

#[cfg(test)]
mod tests {
    use super::super::rows::tests::good;
    use super::*;

    fn rows() -> Vec<Row> {
        let s = str::to_string;
        let peer =
            Row { replayer: s("gfxrecon-replay"), version: s("0.9.18"), options: s("-m rebind"), ..good() };
        let off = Shown::Compared { frames: 3, blank: false, largest: 90, off_percent: 5.25 };
        vec![
            good(),
            Row { exit: 139, ..peer.clone() },
            Row { program: s("game"), shown: off, same_as: s("gfxrecon-replay 0.9.18"), ..good() },
            Row { program: s("game"), shown: off, ..peer },
            Row { program: s("net"), shown: Shown::Nothing, ..good() },
            Row { kind: s("trimmed"), exit: 77, bridged: s("queues"), said: s("no handles"), ..good() },
            Row {
                program: s("other"),
                replayer: String::new(),
                program_exit: 249,
                said: s("no such extension"),
                ..good()
            },
        ]
    }

    #[test]
    fn totals_count_rows() {
        let page = write(&rows(), &[]);
        assert!(page.contains("3 programs, 4 recordings."), "{page}");
        // recordings, equal, rounding, ran, differs, refused, failed, crashed, hung, and 1 of the 2 that could be compared
        assert!(page.contains("| reray-replay | 3 | 1 | 0 | 1 | 1 | 0 | 0 | 0 | 0 | 50.0 % |"), "{page}");
        assert!(
            page.contains(
                "| gfxrecon-replay 0.9.18 `-m rebind` | 2 | 0 | 0 | 0 | 1 | 0 | 0 | 1 | 0 | 0.0 % |"
            ),
            "{page}"
        );
        assert!(page.contains("| reray-replay | 1 | 0 | 0 | 0 | 0 | 1 | 0 | 0 | 0 | 0.0 % |"), "{page}");
    }

    #[test]
    fn what_is_not_equal_is_named_with_its_reason() {
        let known = notes("# a comment\ngame\t*\tThe game races with itself.\nother\twhole\tNot here.\n")
            .expect("notes");
        let page = write(&rows(), &known);
        let game = "| game | whole | differs 5.250 % | gfxrecon-replay 0.9.18 shows the same picture. The game races with itself. |";
        assert!(page.contains(game), "{page}");
        assert!(page.contains("| cube | trimmed | refused, bridged: queues | no handles |"), "{page}");
        assert!(!page.contains("| net | whole | ran | "), "{page}");
        assert!(
            page.contains("| other | whole | cubes 1.0 (Debian) | 249 | no such extension | Not here. |"),
            "{page}"
        );
    }

    #[test]
    fn the_order_of_rows_is_no_matter() {
        let mut other = rows();
        other.reverse();
        assert_eq!(write(&rows(), &[]), write(&other, &[]));
    }

    #[test]
    fn machines_have_sections_of_their_own() {
        let there = Row { replayed_on: "another".to_string(), ..good() };
        let page = write(&[good(), there], &[]);
        assert!(page.contains("## Recorded on device, replayed on another\n"), "{page}");
        assert!(page.contains("## Recorded on device, replayed on device\n"), "{page}");
    }

    #[test]
    fn notes_without_text_are_refused() {
        assert!(notes("game\twhole\n").is_err() && notes("game\twhole\t\n").is_err());
    }
}
