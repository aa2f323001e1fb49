//! Plans whose shaders are rewritten, and those that `--with` asks for.
//!
//! Guarantees: plans are in the order of the command line, each without reordering behind the one that it is held against. Refuses `--no-reorder` where no plan reorders.

use crate::cli::BenchArgs;
use crate::exit::Failure;
use std::sync::Arc;

/// A plan whose shaders are rewritten.
#[derive(Clone, Debug)]
pub struct With {
    /// Its name.
    pub name: String,
    /// What rewrites its shaders.
    pub how: How,
}

/// What rewrites them.
#[derive(Clone, Debug)]
pub enum How {
    /// Passes, as on the command line.
    Passes(String),
    /// Descriptors are in other sets.
    Repartition(Arc<profile::hooks::repartition::Plan>),
}

impl With {
    /// A plan of passes.
    pub fn passes(name: String, list: String) -> Self {
        With { name, how: How::Passes(list) }
    }
}

/// The passes of plans with passes: those that were asked for, and behind each with pass ser one that does not reorder.
pub fn with(args: &BenchArgs) -> Result<Vec<With>, Failure> {
    let mut all = Vec::new();
    for list in &args.with {
        all.push(list.clone());
        let still = still(list);
        if args.no_reorder && still != *list && !args.with.contains(&still) {
            all.push(still);
        }
    }
    match args.no_reorder && all == args.with && !args.with.iter().any(|l| l.contains("reorder=no")) {
        true => Err(Failure::usage("--no-reorder: no --with has pass ser")),
        false => Ok(all.into_iter().map(|list| With::passes(list.clone(), list)).collect()),
    }
}

/// A list of passes whose `ser` leaves the reordering, and what it is told, out.
fn still(list: &str) -> String {
    let one = |pass: &str| match pass.split_once(':').unwrap_or((pass, "")) {
        ("ser", options) => {
            let kept = options
                .split('+')
                .filter(|o| !o.is_empty() && !o.starts_with("hints") && !o.starts_with("reorder"));
            let options: Vec<&str> = kept.chain(["reorder=no"]).collect();
            format!("ser:{}", options.join("+"))
        }
        _ => pass.to_owned(),
    };
    list.split(',').map(one).collect::<Vec<_>>().join(",")
}

/// A failure of a plan, with its name.
pub fn of_plan(failure: Failure, plan: &str) -> Failure {
    Failure(failure.0, format!("plan {plan}: {}", failure.1))
}

#[cfg(test)]
mod tests {
    use super::still;

    #[test]
    fn what_does_not_reorder_keeps_its_other_options() {
        assert_eq!(still("ser"), "ser:reorder=no");
        assert_eq!(still("simt,ser:api=ext+hints=instance:4"), "simt,ser:api=ext+reorder=no");
        assert_eq!(still("ser:reorder=no"), "ser:reorder=no");
        assert_eq!(still("ser:reorder=yes"), "ser:reorder=no");
        assert_eq!(still("simt:exact=4"), "simt:exact=4");
    }
}
