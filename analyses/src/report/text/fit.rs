//! Text within so many columns: sentences are wrapped, tables folded, and cells of long words cut.
//!
//! Guarantees: no line is longer than asked for where a word, or a number, does not make it so; what is cut has a `…` in its place. Numbers are
//! never cut. Refuses nothing.

use std::collections::HashSet;

/// Words that are no longer than this are whole where a table's other columns can go below.
const READABLE: usize = 24;
/// The least that is left of a cell of words.
const LEAST: usize = 7;
/// What stands between two columns.
const GAP: usize = 2;

/// Columns that a text takes; every character that reports use takes one.
pub fn width(text: &str) -> usize {
    text.chars().count()
}

/// A sentence on as many lines as it takes, each behind `indent` blanks.
pub fn wrapped(text: &str, within: Option<usize>, indent: usize) -> String {
    let (mut out, mut line) = (String::new(), " ".repeat(indent));
    for word in text.split(' ') {
        if width(&line) == indent {
            line.push_str(word);
        } else if within.is_some_and(|within| width(&line) + 1 + width(word) > within) {
            out.push_str(&line);
            out.push('\n');
            line = " ".repeat(indent) + word;
        } else {
            line.push(' ');
            line.push_str(word);
        }
    }
    out + &line
}

/// Each line of a text on as many as it takes, behind the blanks that it begins with.
pub fn rewrapped(text: &str, within: Option<usize>) -> String {
    let line = |line: &str| {
        let words = line.trim_start_matches(' ');
        wrapped(words, within, line.len() - words.len()) + "\n"
    };
    text.lines().map(line).collect()
}

/// Rows of (a name, what is said of it): the names in a column, what is said of them wrapped beside it.
pub fn described<'t>(rows: impl Iterator<Item = (&'t str, String)> + Clone, within: Option<usize>) -> String {
    let names = rows.clone().map(|(name, _)| width(name)).max().unwrap_or(0) + GAP;
    rows.map(|(name, said)| beside(name, names, &said, within)).collect()
}

/// What is said of a name, wrapped beside it from column `begins` on, with a line end; right behind a name that is longer.
pub fn beside(name: &str, begins: usize, said: &str, within: Option<usize>) -> String {
    let text = wrapped(said, within, begins);
    format!("{name:<begins$}{}\n", text.chars().skip(begins).collect::<String>())
}

/// Cells below each other.
pub struct Aligned {
    /// Its lines.
    pub text: String,
    /// Whether words were cut.
    pub cut: bool,
}

/// Lines of cells below each other, the first `heads` of which are headings; columns of `numbers` to the right. What
/// does not fit beside the others goes below them, beside the columns that tell the rows apart.
pub fn aligned(lines: &[Vec<String>], heads: usize, numbers: &[bool], within: Option<usize>) -> Aligned {
    let widest = |n: usize| lines.iter().filter_map(|l| l.get(n)).map(|cell| width(cell)).max().unwrap_or(0);
    let natural: Vec<usize> = (0..numbers.len()).map(widest).collect();
    let mut cut = false;
    let part = |columns: Vec<usize>| {
        let of = |all: &[usize]| columns.iter().map(|n| all[*n]).collect();
        let numbers: Vec<bool> = columns.iter().map(|n| numbers[*n]).collect();
        let widths = widths(of(&natural), &numbers, within);
        cut |= columns.iter().zip(&widths).any(|(n, to)| natural[*n] > *to);
        let line = |cells: &Vec<String>| {
            let padded = columns.iter().zip(&widths).zip(&numbers).map(|((n, to), number)| {
                let cell = cells.get(*n).map_or_else(String::new, |cell| shortened(cell, *to));
                let pad = " ".repeat(to - width(&cell));
                if *number { pad + &cell } else { cell + &pad }
            });
            padded.collect::<Vec<_>>().join(&" ".repeat(GAP)).trim_end().to_owned() + "\n"
        };
        // (a line of units without one is not needed)
        let said = |(n, line): (usize, String)| (n == 0 || n >= heads || line != "\n").then_some(line);
        lines.iter().map(line).enumerate().filter_map(said).collect::<String>()
    };
    let parts: Vec<String> =
        parts(&lines[heads..], &natural, numbers, within).into_iter().map(part).collect();
    Aligned { text: parts.join("\n"), cut }
}

/// What is said below tables some of whose words were cut, with a line end; nothing where none were.
pub fn said_of_cuts(within: Option<usize>, cut: bool) -> String {
    let said =
        |columns| wrapped(&format!("Cut to {columns} columns; --wide shows all of it."), within, 0) + "\n";
    within.filter(|_| cut).map_or_else(String::new, said)
}

/// The columns that stand beside each other: all, or parts of them, each with the first columns again by which a row is told from the others.
fn parts(
    rows: &[Vec<String>],
    natural: &[usize],
    numbers: &[bool],
    within: Option<usize>,
) -> Vec<Vec<usize>> {
    let all: Vec<usize> = (0..natural.len()).collect();
    let least = |n: &usize| if numbers[*n] { natural[*n] } else { natural[*n].min(READABLE) };
    let taken =
        |columns: &[usize]| columns.iter().map(least).sum::<usize>() + GAP * columns.len().saturating_sub(1);
    let Some(within) = within.filter(|within| taken(&all) > *within) else { return vec![all] };
    let tells = |n: &usize| {
        let mut seen = HashSet::new();
        rows.iter().all(|row| seen.insert(&row[..(*n).min(row.len())]))
    };
    let mut key = (1..all.len()).find(tells).unwrap_or(1);
    while key > 1 && taken(&all[..key]) > within / 2 {
        key -= 1;
    }
    let filled = |to: usize| {
        let mut parts = vec![all[..key].to_vec()];
        for n in &all[key..] {
            let last = parts.last_mut().expect("there is one");
            last.push(*n);
            if taken(last) > to && last.len() > key + 1 {
                last.pop();
                parts.push([&all[..key], &[*n]].concat());
            }
        }
        parts
    };
    // (as few as can be, of one width)
    let fewest = filled(within);
    (0..within).map(filled).find(|parts| parts.len() == fewest.len()).unwrap_or(fewest)
}

/// The widths that columns get, of those that they would take.
fn widths(mut given: Vec<usize>, numbers: &[bool], within: Option<usize>) -> Vec<usize> {
    let Some(within) = within else { return given };
    while given.iter().sum::<usize>() + GAP * given.len().saturating_sub(1) > within {
        let widest = (0..given.len()).filter(|n| !numbers[*n]).max_by_key(|n| given[*n]);
        match widest.filter(|n| given[*n] > LEAST) {
            Some(n) => given[n] -= 1,
            None => break,
        }
    }
    given
}

/// A cell of words in so many columns: what it begins and what it ends with.
fn shortened(cell: &str, to: usize) -> String {
    if width(cell) <= to {
        return cell.to_owned();
    }
    // (what all commands begin with tells none from another)
    if let Some(rest) = cell.strip_prefix("vkCmd").filter(|rest| width(rest) < to) {
        return format!("…{rest}");
    }
    let n = width(cell);
    let kept = to.saturating_sub(1);
    let (head, tail) = (kept.div_ceil(2), kept / 2);
    cell.chars().take(head).chain(['…']).chain(cell.chars().skip(n - tail)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_wrapped_between_words() {
        let text = "Most time takes draw 3.";
        assert_eq!(wrapped(text, None, 0), text);
        assert_eq!(wrapped(text, Some(23), 0), text);
        assert_eq!(wrapped(text, Some(17), 2), "  Most time takes\n  draw 3.");
        assert_eq!(
            wrapped("averylongword and more", Some(6), 0),
            "averylongword\nand\nmore",
            "a word stays whole"
        );
        assert_eq!(rewrapped("a b\n  c d\n", Some(4)), "a b\n  c\n  d\n");
    }

    #[test]
    fn words_give_way_and_numbers_do_not() {
        let numbers = [false, true, false];
        let all = vec![30, 8, 20];
        let within = |columns| widths(all.clone(), &numbers, columns);
        assert_eq!((within(None), within(Some(62))), (all.clone(), all.clone()));
        assert_eq!(within(Some(52)), [20, 8, 20]);
        assert_eq!(within(Some(5)), [LEAST, 8, LEAST], "what has to be there is");
        assert_eq!((shortened("pipeline", 8), shortened("pipeline", 5)), ("pipeline".into(), "pi…ne".into()));
        assert_eq!(
            (shortened("vkCmdDraw", 9), shortened("vkCmdDraw", 8)),
            ("vkCmdDraw".into(), "…Draw".into())
        );
        assert_eq!(shortened("vkCmdTraceRaysKHR", 9), "vkCm…sKHR");
        assert_eq!(shortened("vkCmdTraceRaysKHR", 13), "…TraceRaysKHR");
    }

    #[test]
    fn numbers_stand_to_the_right() {
        let lines =
            [["name", "calls"], ["vkÄ", "7"], ["vkCmdDraw", "12"]].map(|l| l.map(str::to_owned).to_vec());
        let text = aligned(&lines, 1, &[false, true], None).text;
        assert_eq!(text, "name       calls\nvkÄ            7\nvkCmdDraw     12\n");
    }

    #[test]
    fn what_does_not_fit_goes_below_with_what_tells_rows_apart() {
        let lines = [
            ["shader", "block", "mean", "share", "where"],
            ["", "", "ms", "%", ""],
            ["lit", "1", "1.25", "10", "lit.frag:12"],
            ["lit", "2", "3.50", "30", "lit.frag:17"],
        ]
        .map(|l| l.map(str::to_owned).to_vec());
        let within = |columns| aligned(&lines, 2, &[false, true, true, true, false], Some(columns));
        let whole = aligned(&lines, 2, &[false, true, true, true, false], None).text;
        assert_eq!((within(80).text, within(80).cut), (whole, false));
        let folded = "shader  block  mean  share
                 ms      %
lit         1  1.25     10
lit         2  3.50     30

shader  block  where
lit         1  lit.frag:12
lit         2  lit.frag:17
";
        assert_eq!((within(30).text.as_str(), within(30).cut), (folded, false));
        let narrow = within(16);
        assert!(narrow.text.lines().all(|l| width(l) <= 16), "{}", narrow.text);
        assert!(narrow.cut && narrow.text.contains("lit     lit.…:17"), "{}", narrow.text);
    }

    #[test]
    fn nothing_of_what_is_said_is_lost_beside_a_long_name() {
        assert_eq!(super::beside("a name that is long ", 8, "42", None), "a name that is long 42\n");
        assert_eq!(super::beside("a ", 8, "1 22 333", Some(12)), "a       1 22\n        333\n");
    }

    #[test]
    fn what_is_said_of_a_name_stands_beside_it() {
        let rows = [("simt", "how full subgroups are"), ("rays", "x")].map(|(a, b)| (a, b.to_owned()));
        let rows = || rows.iter().map(|(a, b)| (*a, b.clone()));
        assert_eq!(described(rows(), None), "simt  how full subgroups are\nrays  x\n");
        assert_eq!(described(rows(), Some(16)), "simt  how full\n      subgroups\n      are\nrays  x\n");
    }
}
