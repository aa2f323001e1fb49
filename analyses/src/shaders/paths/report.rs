//! What subgroups' calls come to: the counts, the most frequent paths, and compaction.

use super::columns;
use super::compaction::{Saved, Subgroup, windows};
use crate::context::Context;
use crate::report::{Cell, Report, counted, most, share};
use std::collections::{BTreeMap, HashMap};

/// How many paths a table shows of each entry point.
const TOP: usize = 10;

/// What these subgroups' calls come to.
pub fn report(name: &str, title: &str, context: &Context, subgroups: &[Subgroup]) -> Report {
    let mut by_entry: BTreeMap<u64, Vec<&Subgroup>> = BTreeMap::new();
    for s in subgroups {
        by_entry.entry(s.entry).or_default().push(s);
    }
    let mut report = Report::new(name, title);
    let (mut counts, mut top, mut rows) = (vec![], vec![], vec![]);
    let (mut whole, mut of_launches) = (Saved::default(), vec![]);
    for (entry, subgroups) in &by_entry {
        let paths = paths(subgroups);
        counts.push(count_cells(context, *entry, subgroups, &paths));
        top.extend(tops(context, *entry, &paths));
        let n = subgroups.first().and_then(|s| context.subgroup_size(s.frame)).unwrap_or(0);
        for (window, saved) in windows(subgroups, n) {
            rows.push(context.entry_cells(*entry).into_iter().chain(saved.cells(window)).collect());
            if window.is_none() {
                whole.add(saved);
                of_launches.push((*entry, saved));
            }
        }
    }
    report.headlines.extend(headline(context, whole, of_launches));
    report.tables = vec![
        columns::PATHS.table(counts),
        columns::FREQUENT_PATHS.table(top),
        columns::COMPACTION.table(rows),
    ];
    if by_entry.len() > 1 {
        report.tables.push(columns::COMPACTION_OF_ALL.table([whole.cells(None)]));
    }
    report
}

/// What compaction over whole launches would save, and where most.
fn headline(context: &Context, whole: Saved, of_launches: Vec<(u64, Saved)>) -> Option<String> {
    let would = "Compaction over whole launches would save";
    let calls = counted(whole.ran, "call");
    let (entry, s) = match most(of_launches, |s| s.1.saved()) {
        Some(most) => most,
        None if whole.ran == 0 => return None,
        None => return Some(format!("{would} nothing of {calls} of subgroups.")),
    };
    let whose = context.whose_words(entry);
    let place = match s == whole {
        true => format!("all in {whose}"),
        false => format!("most in {whose}: {} of {}", share(s.saved(), s.ran), s.ran),
    };
    let saved = share(whole.saved(), whole.ran);
    Some(format!("{would} {saved} of {calls} of subgroups, {place}."))
}

/// Bits of a path, the last a 1.
type Path = Vec<bool>;

/// How many invocations took each path.
fn paths(subgroups: &[&Subgroup]) -> HashMap<Path, u64> {
    let mut all: HashMap<Path, u64> = HashMap::new();
    for s in subgroups {
        for lane in (0..128).filter(|lane| s.entered >> lane & 1 == 1) {
            let mut path: Path = s.calls.iter().map(|c| c.1 >> lane & 1 == 1).collect();
            let len = path.iter().rposition(|b| *b).map_or(0, |i| i + 1);
            path.truncate(len);
            *all.entry(path).or_default() += 1;
        }
    }
    all
}

fn count_cells(
    context: &Context,
    entry: u64,
    subgroups: &[&Subgroup],
    paths: &HashMap<Path, u64>,
) -> Vec<Cell> {
    let calls = || subgroups.iter().flat_map(|s| &s.calls);
    let mut cells = context.entry_cells(entry);
    cells.extend([
        Cell::Count(subgroups.len() as u64),
        Cell::Count(subgroups.iter().map(|s| u64::from(s.entered.count_ones())).sum()),
        Cell::Count(calls().count() as u64),
        Cell::Count(calls().map(|c| u64::from(c.1.count_ones())).sum()),
        Cell::Count(paths.len() as u64),
    ]);
    cells
}

/// The most frequent paths; of equally frequent ones the shorter first, then by bits.
fn tops(context: &Context, entry: u64, paths: &HashMap<Path, u64>) -> Vec<Vec<Cell>> {
    let all: u64 = paths.values().sum();
    let mut sorted: Vec<_> = paths.iter().collect();
    sorted.sort_by(|a, b| b.1.cmp(a.1).then_with(|| (a.0.len(), a.0).cmp(&(b.0.len(), b.0))));
    let row = |(path, &count): (&Path, &u64)| {
        let mut cells = context.entry_cells(entry);
        cells.extend([
            words(path).into(),
            Cell::Count(path.iter().filter(|b| **b).count() as u64),
            Cell::Count(count),
            Cell::share(count, all),
        ]);
        cells
    };
    sorted.into_iter().take(TOP).map(row).collect()
}

/// Ones and zeros, the first call first; long ones are cut.
fn words(path: &[bool]) -> String {
    const SHOWN: usize = 64;
    let bits = |p: &[bool]| p.iter().map(|b| if *b { '1' } else { '0' }).collect::<String>();
    match path.len() {
        0 => "none".into(),
        n if n > SHOWN => format!("{}… ({n} calls)", bits(&path[..SHOWN])),
        _ => bits(path),
    }
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn paths_are_ones_and_zeros_and_long_ones_are_cut() {
        assert_eq!((words(&[]), words(&[true, false, true])), ("none".to_owned(), "101".to_owned()));
        assert!(words(&[true; 70]).ends_with("1… (70 calls)"));
    }
}
