//! Text within so many columns: sentences are wrapped, and cells of words cut.
//!
//! Guarantees: no line is longer than asked for where a word, or a table's numbers, do not make it so; what is cut has a `…` in its place. Numbers are
//! never cut. Refuses nothing.

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

/// Rows of (a name, what is said of it): the names in a column, what is said of them wrapped beside it.
pub fn described<'t>(rows: impl Iterator<Item = (&'t str, String)> + Clone, within: Option<usize>) -> String {
    let names = rows.clone().map(|(name, _)| width(name)).max().unwrap_or(0) + GAP;
    let one = |(name, said): (&str, String)| {
        let text = wrapped(&said, within, names);
        format!("{name}{}\n", text.chars().skip(width(name)).collect::<String>())
    };
    rows.map(one).collect()
}

/// Lines of cells below each other; columns of `numbers` to the right, and never cut: the widest others give way first.
pub fn aligned(lines: &[Vec<String>], numbers: &[bool], within: Option<usize>) -> String {
    let widest = |n: usize| lines.iter().filter_map(|l| l.get(n)).map(|cell| width(cell)).max().unwrap_or(0);
    let widths = widths((0..numbers.len()).map(widest).collect(), numbers, within);
    let line = |cells: &Vec<String>| {
        let padded = cells.iter().zip(&widths).zip(numbers).map(|((cell, to), number)| {
            let cell = cut(cell, *to);
            let pad = " ".repeat(to - width(&cell));
            if *number { pad + &cell } else { cell + &pad }
        });
        padded.collect::<Vec<_>>().join(&" ".repeat(GAP)).trim_end().to_owned() + "\n"
    };
    lines.iter().map(line).collect()
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
fn cut(cell: &str, to: usize) -> String {
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
    }

    #[test]
    fn words_give_way_and_numbers_do_not() {
        let numbers = [false, true, false];
        let all = vec![30, 8, 20];
        let within = |columns| widths(all.clone(), &numbers, columns);
        assert_eq!((within(None), within(Some(62))), (all.clone(), all.clone()));
        assert_eq!(within(Some(52)), [20, 8, 20]);
        assert_eq!(within(Some(5)), [LEAST, 8, LEAST], "what has to be there is");
        assert_eq!((cut("pipeline", 8), cut("pipeline", 5)), ("pipeline".into(), "pi…ne".into()));
        assert_eq!((cut("vkCmdDraw", 9), cut("vkCmdDraw", 8)), ("vkCmdDraw".into(), "…Draw".into()));
        assert_eq!(cut("vkCmdTraceRaysKHR", 9), "vkCm…sKHR");
        assert_eq!(cut("vkCmdTraceRaysKHR", 13), "…TraceRaysKHR");
    }

    #[test]
    fn numbers_stand_to_the_right() {
        let lines =
            [["name", "calls"], ["vkÄ", "7"], ["vkCmdDraw", "12"]].map(|l| l.map(str::to_owned).to_vec());
        let text = aligned(&lines, &[false, true], None);
        assert_eq!(text, "name       calls\nvkÄ            7\nvkCmdDraw     12\n");
    }

    #[test]
    fn what_is_said_of_a_name_stands_beside_it() {
        let rows = [("simt", "how full subgroups are"), ("rays", "x")].map(|(a, b)| (a, b.to_owned()));
        let rows = || rows.iter().map(|(a, b)| (*a, b.clone()));
        assert_eq!(described(rows(), None), "simt  how full subgroups are\nrays  x\n");
        assert_eq!(described(rows(), Some(16)), "simt  how full\n      subgroups\n      are\nrays  x\n");
    }
}
