//! Long tables on all cores: what each thread makes of the parts that it reads, put together.
//!
//! Guarantees: every row is seen once; no more than a part for each thread is in memory. In which order parts come is not said,
//! so that what is made of them must not depend on it.

use rayon::prelude::*;
use trace::{Columns, Source, Table, Unreadable};

/// Folds a table's columns.
pub fn fold<A: Send>(
    trace: &dyn Source,
    table: &'static Table,
    columns: &[&str],
    zero: impl Fn() -> A + Sync,
    step: impl Fn(&mut A, &Columns) -> Result<(), Unreadable> + Sync,
    join: impl Fn(A, A) -> A + Sync,
) -> Result<A, Unreadable> {
    let parts = trace.parts(table, columns)?;
    (0..parts.len())
        .into_par_iter()
        .try_fold(
            || (zero(), Columns::new(table)),
            |(mut sum, mut rows), part| {
                parts.read(part, &mut rows)?;
                step(&mut sum, &rows)?;
                Ok((sum, rows))
            },
        )
        .map(|made| made.map(|(sum, _)| sum))
        .try_reduce(&zero, |a, b| Ok(join(a, b)))
}
