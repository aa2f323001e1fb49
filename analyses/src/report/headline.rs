//! What headlines are put together from: shares of a whole, counted things, and what has most of something.
//!
//! Guarantees: of equal ones the first has most, so that the same records give the same words; who has nothing never has most.
//! Refuses nothing.

use super::Unit;

/// A part of a whole, as tables say it; a part of nothing is nothing.
pub fn share(part: impl Into<u128>, whole: impl Into<u128>) -> String {
    let (part, whole) = (part.into(), whole.into());
    percent(if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 })
}

/// Hundredths, as tables say them.
pub fn percent(of: f64) -> String {
    format!("{of:.0$} %", Unit::Percent.decimals())
}

/// `1 block`, `2 blocks`, `2 passes`, `2 dispatches`
pub fn counted(n: impl Into<u128>, what: &str) -> String {
    let end = if what.ends_with("ss") || what.ends_with("ch") { "es" } else { "s" };
    match n.into() {
        1 => format!("1 {what}"),
        n => format!("{n} {what}{end}"),
    }
}

/// What a sentence begins with.
pub fn capitalized(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map_or_else(String::new, |first| first.to_uppercase().chain(rest).collect())
}

/// Medians in milliseconds by name: the first, or the shortest and the longest of the others against it.
pub fn medians(all: &[(&str, f64)]) -> Option<String> {
    let (base, of_base) = *all.first()?;
    let against =
        |(name, ms): (&str, f64)| format!("{name} {ms:.3} ms ({:+.2} %)", 100.0 * (ms / of_base - 1.0));
    let mut others: Vec<(&str, f64)> = all[1..].to_vec();
    others.sort_by(|a, b| a.1.total_cmp(&b.1));
    let words = match others[..] {
        [] => return Some(format!("{base} takes {of_base:.3} ms (median).")),
        [one] => against(one),
        [shortest, .., longest] => {
            format!("the shortest is {}, the longest {}", against(shortest), against(longest))
        }
    };
    Some(format!("Medians against {base} with {of_base:.3} ms: {words}."))
}

/// What has most of something; nothing where nobody has any.
pub fn most<T, N: PartialOrd + Default>(all: impl IntoIterator<Item = T>, of: impl Fn(&T) -> N) -> Option<T> {
    let with = all.into_iter().map(|t| (of(&t), t)).filter(|m| m.0 > N::default());
    with.reduce(|a, b| if b.0 > a.0 { b } else { a }).map(|m| m.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_the_first_of_equal_ones() {
        assert_eq!((share(1u64, 3u64), share(1u64, 0u64)), ("33.33 %".to_owned(), "0.00 %".to_owned()));
        assert_eq!((counted(1u64, "block"), counted(0u64, "block")), ("1 block".into(), "0 blocks".into()));
        assert_eq!(
            (counted(2u64, "render pass"), counted(1u64, "dispatch")),
            ("2 render passes".into(), "1 dispatch".into())
        );
        assert_eq!((capitalized("äpfel a"), capitalized("")), ("Äpfel a".into(), String::new()));
        assert_eq!(most([("a", 1), ("b", 2), ("c", 2)], |t| t.1), Some(("b", 2)));
        let all = [("plain", 2.0), ("slow", 3.0), ("fast", 1.0)];
        assert_eq!(medians(&all[..1]).as_deref(), Some("plain takes 2.000 ms (median)."));
        let one = "Medians against plain with 2.000 ms: slow 3.000 ms (+50.00 %).";
        assert_eq!(medians(&all[..2]).as_deref(), Some(one));
        let both = "Medians against plain with 2.000 ms: the shortest is fast 1.000 ms (-50.00 %), the longest slow 3.000 ms (+50.00 %).";
        assert_eq!((medians(&all).as_deref(), medians(&[])), (Some(both), None));
        assert_eq!(most([("a", 0.0)], |t| t.1), None);
    }
}
