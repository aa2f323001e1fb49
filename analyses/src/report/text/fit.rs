//! Text within so many columns: sentences are wrapped, and cells of words cut.
//!
//! Guarantees: no line is longer than asked for where a word, or a table's numbers, do not make it so; what is cut has a `…` in its middle. Numbers are
//! never cut. Refuses nothing.

use crate::report::{Table, Unit};

/// The least that is left of a cell of words.
const LEAST: usize = 7;
/// What stands between two columns.
pub const GAP: usize = 2;

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

/// The widths that a table's columns get, of those that they would take: the widest cells of words give way first.
pub fn widths(table: &Table, wanted: Vec<usize>, within: Option<usize>) -> Vec<usize> {
    let Some(within) = within else { return wanted };
    let mut given = wanted;
    let words = |n: &usize| table.columns[*n].unit == Unit::Text;
    while given.iter().sum::<usize>() + GAP * given.len().saturating_sub(1) > within {
        let widest = (0..given.len()).filter(words).max_by_key(|n| given[*n]);
        match widest.filter(|n| given[*n] > LEAST) {
            Some(n) => given[n] -= 1,
            None => break,
        }
    }
    given
}

/// A cell of words in so many columns: what it begins and what it ends with.
pub fn cut(cell: &str, to: usize) -> String {
    let n = width(cell);
    if n <= to {
        return cell.to_owned();
    }
    let kept = to.saturating_sub(1);
    let (head, tail) = (kept.div_ceil(2), kept / 2);
    cell.chars().take(head).chain(['…']).chain(cell.chars().skip(n - tail)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Column;

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
        let columns = vec![
            Column::new("pipeline", Unit::Text),
            Column::new("time", Unit::Milliseconds),
            Column::new("labels", Unit::Text),
        ];
        let table = Table { name: "t".into(), columns, rows: vec![] };
        let all = vec![30, 8, 20];
        assert_eq!(widths(&table, all.clone(), None), all);
        assert_eq!(widths(&table, all.clone(), Some(62)), all);
        assert_eq!(widths(&table, all.clone(), Some(52)), [20, 8, 20]);
        assert_eq!(widths(&table, all, Some(5)), [LEAST, 8, LEAST], "what has to be there is");
        assert_eq!((cut("pipeline", 8), cut("pipeline", 5)), ("pipeline".into(), "pi…ne".into()));
    }
}
