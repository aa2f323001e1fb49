//! One check for each table that passes fill: exact equality with what the machine says.

use super::machine::Tally;
use super::tables::{Row, Trace};
use super::{Entry, Unit, Verdict};
use std::collections::BTreeMap;

/// Where one entry point's rows are, and what should be in them.
struct Case<'a> {
    trace: &'a Trace,
    frame: u64,
    n: u64,
    number: u64,
    entry: &'a Entry,
    tally: &'a Tally,
}

/// Every table.
pub fn all(
    trace: &Trace,
    frame: u64,
    n: u64,
    number: u64,
    entry: &Entry,
    tally: &Tally,
    verdict: &mut Verdict,
) {
    let case = Case { trace, frame, n, number, entry, tally };
    case.simt(verdict);
    case.divergence(verdict);
    case.its(verdict);
    case.lifetimes(verdict);
    case.block_counts(verdict);
    case.edge_counts(verdict);
    case.paths(verdict);
    case.uniformity(verdict);
    case.values(verdict);
    case.counters(verdict);
}

/// Branches that follow from what is the same for a whole subgroup by nature, and others: what an analysis may and may not say.
const BRANCHES: [(u32, bool); 6] = [(0, true), (2, true), (4, true), (6, false), (8, false), (10, false)];

impl Case<'_> {
    fn tally(&self) -> &Tally {
        self.tally
    }

    fn rows(&self, table: &str) -> Vec<&Row> {
        self.trace.rows(table, self.frame, self.number)
    }

    fn whole(&self) -> bool {
        self.entry.unit == Unit::Subgroup
    }

    fn says(&self, what: &str) -> String {
        let Entry { pipeline, index, .. } = self.entry;
        format!("frame {}, pipeline {pipeline}, stage {index}, {what}", self.frame)
    }

    /// Rows by function and block.
    fn by_block<'r>(&self, rows: Vec<&'r Row>) -> BTreeMap<(String, u32), Vec<&'r Row>> {
        let mut all: BTreeMap<(String, u32), Vec<&Row>> = BTreeMap::new();
        for row in rows {
            let function = self.trace.function(self.number, row).to_owned();
            all.entry((function, row.number("block") as u32)).or_default().push(row);
        }
        all
    }

    /// Whether any entry point has rows there at all in this frame: only then does having none mean anything.
    fn measured(&self, table: &str) -> bool {
        self.trace.all(table).any(|r| r.number("frame") == self.frame)
    }

    fn simt(&self, verdict: &mut Verdict) {
        if !self.measured("simt") {
            return;
        }
        let found = self.by_block(self.rows("simt"));
        let blocks = self.tally().blocks.keys().map(|(f, b)| ((*f).to_owned(), *b));
        let all: std::collections::BTreeSet<_> = blocks.chain(found.keys().cloned()).collect();
        for at in all {
            let rows = found.get(&at).cloned().unwrap_or_default();
            let should = self.block(&at);
            let is: BTreeMap<u64, u64> =
                rows.iter().map(|r| (r.number("active"), r.number("executions"))).collect();
            if self.whole() {
                verdict.same(
                    "simt",
                    || self.says(&format!("block {at:?}, popcounts")),
                    &is,
                    &should.popcounts,
                );
            }
            let invocations: u64 = is.iter().map(|(active, times)| active * times).sum();
            let what = || self.says(&format!("block {at:?}, invocations"));
            verdict.same("simt", what, invocations, should.invocations());
        }
    }

    fn block(&self, at: &(String, u32)) -> super::machine::Block {
        let of = self.tally().blocks.iter().find(|((f, b), _)| *f == at.0 && *b == at.1);
        of.map(|(_, block)| block.clone()).unwrap_or_default()
    }

    fn divergence(&self, verdict: &mut Verdict) {
        for (at, rows) in self.by_block(self.rows("divergence")) {
            let should = self.block(&at);
            let sum = |column: &str| rows.iter().map(|r| r.number(column)).sum::<u64>();
            let says = |what: &str| self.says(&format!("block {at:?}, {what}"));
            let causes = ["early_return", "indirect_call", "control_flow"];
            let inactive: u64 = causes.iter().chain(&["helper"]).map(|c| sum(c)).sum();
            let slots = self.n * sum("executions");
            verdict.same("divergence", || says("sum"), sum("active") + inactive, slots);
            verdict.same("divergence", || says("unattributed"), sum("unattributed"), 0);
            verdict.same("divergence", || says("active"), sum("active"), should.invocations());
            if self.whole() {
                let is = causes.map(sum);
                let should_be = [should.early, should.absent, should.control];
                verdict.same("divergence", || says("causes"), is, should_be);
                verdict.same("divergence", || says("executions"), sum("executions"), should.executions());
            }
        }
    }

    fn its(&self, verdict: &mut Verdict) {
        let rows = self.rows("its");
        if rows.is_empty() {
            return;
        }
        let tally = self.tally();
        let (entries, exits): (Vec<&Row>, Vec<&Row>) =
            rows.into_iter().partition(|r| r.words("kind") == "entry");
        let sum = |rows: &[&Row], column: &str| rows.iter().map(|r| r.number(column)).sum::<u64>();
        let says = |what: &str| self.says(what);
        verdict.same("its", || says("entering"), sum(&entries, "invocations"), tally.invocations);
        let leaving = tally.exits.values().map(|e| e.invocations).sum();
        verdict.same("its", || says("leaving"), sum(&exits, "invocations"), leaving);
        if self.whole() {
            verdict.same("its", || says("entries"), sum(&entries, "executions"), tally.subgroups);
            for (at, should) in &tally.exits {
                let here: Vec<&Row> =
                    exits.iter().copied().filter(|r| r.number("block") == u64::from(at.1)).collect();
                let is = ["executions", "invocations", "whole"].map(|c| sum(&here, c));
                let should = [should.executions, should.invocations, should.whole];
                verdict.same("its", || says(&format!("exit at {at:?}")), is, should);
            }
        }
    }

    fn lifetimes(&self, verdict: &mut Verdict) {
        let rows = self.rows("lifetimes");
        for (of, should) in
            [("invocation", &self.tally().lifetimes), ("subgroup", &self.tally().subgroup_lifetimes)]
        {
            if rows.is_empty() || of == "subgroup" && !self.whole() {
                continue;
            }
            let ours = rows.iter().filter(|r| r.words("of") == of);
            let is: BTreeMap<u64, u64> = ours.map(|r| (r.number("from"), r.number("count"))).collect();
            verdict.same("lifetimes", || self.says(of), &is, should);
        }
    }

    fn block_counts(&self, verdict: &mut Verdict) {
        for (pass, unit) in self.block_runs() {
            if unit == "subgroups" && !self.whole() {
                continue;
            }
            let rows = self.rows("block_counts").into_iter().filter(|r| r.words("pass") == pass).collect();
            let found = self.by_block(rows);
            for (function, blocks) in self.trace.blocks(self.number) {
                for block in 0..blocks {
                    let at = (function.to_owned(), block);
                    let should = self.block(&at);
                    let should = if unit == "subgroups" { should.executions() } else { should.invocations() };
                    let is = found.get(&at).into_iter().flatten().map(|r| r.number("executions")).sum();
                    let what = || self.says(&format!("pass {pass}, block {at:?}, {unit}"));
                    verdict.same("block_counts", what, is, should);
                }
            }
        }
    }

    /// The passes that counted all blocks exactly, and in which unit.
    fn block_runs(&self) -> Vec<(String, String)> {
        let exact = |r: &&Row| {
            r.number("frame") == self.frame && r.number("sample") == 1 && r.words("add") == "atomic"
        };
        let all = self.trace.all("block_runs").filter(exact);
        all.map(|r| (r.words("pass").to_owned(), r.words("unit").to_owned())).collect()
    }

    fn edge_counts(&self, verdict: &mut Verdict) {
        for (pass, unit) in self.block_runs() {
            if unit != "invocations" {
                continue;
            }
            let blocks = self.trace.blocks(self.number);
            let mut is: BTreeMap<(String, u64, u64), u64> = BTreeMap::new();
            for r in self.rows("edge_counts") {
                let function = self.trace.function(self.number, r).to_owned();
                let executions = r.number("executions");
                if r.words("pass") == pass && executions != 0 {
                    *is.entry((function, r.number("from"), r.number("to"))).or_default() += executions;
                }
            }
            let end =
                |f: &str, to: u32| if to == u32::MAX { blocks.get(f).copied().unwrap_or(0) } else { to };
            let should = self.tally().edges.iter().map(|((f, from, to), times)| {
                (((*f).to_owned(), u64::from(*from), u64::from(end(f, *to))), *times)
            });
            let should: BTreeMap<_, _> = should.collect();
            verdict.same("edge_counts", || self.says(&format!("pass {pass}")), is, should);
        }
    }

    fn paths(&self, verdict: &mut Verdict) {
        if !self.measured("path_subgroups") {
            return;
        }
        let ones = |r: &Row| u64::from(r.number("mask").count_ones() + r.number("mask_high").count_ones());
        let mut is: BTreeMap<(String, u64), u64> = BTreeMap::new();
        for r in self.rows("path_calls") {
            let function = self.trace.function(self.number, r).to_owned();
            *is.entry((function, r.number("block"))).or_default() += ones(r);
        }
        let should = self.tally().traces.iter().map(|((f, block), of)| {
            (((*f).to_owned(), u64::from(*block)), of.iter().map(|(active, times)| active * times).sum())
        });
        let should: BTreeMap<_, u64> = should.collect();
        verdict.same("path_calls", || self.says("invocations that traced"), is, should);
    }

    /// Executions and how many of them differed, of branches, addresses and values; and what was proved.
    fn uniformity(&self, verdict: &mut Verdict) {
        let ours = |r: &&Row| r.number("entry") == self.number;
        let counted: BTreeMap<u64, [u64; 2]> = self
            .rows("uniformity")
            .iter()
            .map(|r| (r.number("site"), [r.number("executions"), r.number("diverged")]))
            .collect();
        let mut nth: BTreeMap<(String, String), usize> = BTreeMap::new();
        let mut sites: Vec<&Row> = self.trace.all("uniformity_sites").filter(ours).collect();
        sites.sort_by_key(|r| r.number("word_offset"));
        for r in sites {
            let is = counted.get(&r.number("site")).copied().unwrap_or_default();
            let (kind, class) = (r.words("kind"), r.words("class"));
            let place = || {
                self.says(&format!("{kind} of {class} {}, word {}", r.words("name"), r.number("word_offset")))
            };
            if r.number("static") == 1 {
                verdict.same("uniformity", || place() + ", proved uniform", is[1], 0);
            }
            let which = nth.entry((kind.to_owned(), class.to_owned())).or_default();
            let number = std::mem::replace(which, *which + 1);
            if !r.words("unmeasured").is_empty() {
                continue;
            }
            let function = self.trace.function(self.number, r);
            let tally = self.tally();
            let should = match kind {
                "branch" => {
                    let at = tally
                        .branches
                        .iter()
                        .find(|((f, b), _)| *f == function && u64::from(*b) == r.number("block"));
                    Some(at.map(|(_, s)| s.clone()).unwrap_or_default())
                }
                "address" => {
                    tally.addresses.iter().find(|(l, _)| **l == (class, number)).map(|l| l.1.clone())
                }
                _ => tally.loads.iter().find(|(l, _)| **l == (class, number)).map(|l| l.1.clone()),
            };
            if let (Some(should), true) = (should, self.whole()) {
                verdict.same("uniformity", place, is, [should.executions, should.divergent]);
            }
            let proved = BRANCHES.iter().find(|b| u64::from(b.0) == r.number("block"));
            if let ("branches", "branch", Some((_, uniform))) = (self.entry.pipeline, kind, proved) {
                verdict.same("uniformity", || place() + ", proved", r.number("static") == 1, *uniform);
            }
        }
    }

    /// What loads gave: how many invocations had which value. Of vectors the first word.
    fn values(&self, verdict: &mut Verdict) {
        if !self.measured("values") {
            return;
        }
        let (counts, slots) = (self.rows("values"), self.rows("values_seen"));
        let ours = |r: &&Row| r.number("entry") == self.number;
        let mut sites: Vec<&Row> = self.trace.all("value_sites").filter(ours).collect();
        sites.sort_by_key(|r| (r.number("word_offset"), r.number("site")));
        sites.dedup_by_key(|r| r.number("word_offset"));
        let mut nth: BTreeMap<&str, usize> = BTreeMap::new();
        for r in sites {
            let which = nth.entry(r.words("class")).or_default();
            let number = std::mem::replace(which, *which + 1);
            let should = self.tally().loads.iter().find(|(l, _)| **l == (r.words("class"), number));
            let Some((_, should)) = should else { continue };
            let here = |of: &&&Row| of.number("site") == r.number("site");
            let sum = |c: &str| counts.iter().filter(here).map(|r| r.number(c)).sum::<u64>();
            let what =
                |what: &str| self.says(&format!("{} of {}: {what}", r.words("class"), r.words("name")));
            let all = should.values.values().sum();
            verdict.same("values", || what("invocations"), sum("executions"), all);
            let zeros = should.values.get(&0).copied().unwrap_or_default();
            verdict.same("values", || what("zeros"), sum("zeros"), zeros);
            if sum("overflow") == 0 {
                let seen = slots.iter().filter(here).map(|r| (r.number("value"), r.number("executions")));
                let is: BTreeMap<u64, u64> = seen.chain((zeros != 0).then_some((0, sum("zeros")))).collect();
                verdict.same("values", || what("values"), &is, &should.values);
            }
        }
    }

    /// Instructions by class: those of a block, times its invocations, whatever action they were counted in.
    fn counters(&self, verdict: &mut Verdict) {
        let ours = |r: &&Row| r.number("frame") == self.frame && r.number("entry") == self.number + 1;
        let mut is: BTreeMap<(u64, u64), u64> = BTreeMap::new();
        for r in self.trace.all("counters").filter(ours) {
            let at = (r.number("basic_block_index"), r.number("metric"));
            *is.entry(at).or_default() += r.number("value");
        }
        let metrics: BTreeMap<u64, &str> = self
            .trace
            .all("metrics")
            .filter(|r| r.words("source") == "portable")
            .map(|r| (r.number("metric"), r.words("name")))
            .collect();
        let mut classes: Vec<&Row> =
            self.trace.all("classes").filter(|r| r.number("entry") == self.number).collect();
        if is.is_empty() || classes.is_empty() {
            return;
        }
        classes.sort_by_key(|r| (r.number("function"), r.number("block")));
        classes.dedup_by_key(|r| (r.number("function"), r.number("block")));
        for (index, class) in (0u64..).zip(classes) {
            let at = (self.trace.function(self.number, class).to_owned(), class.number("block") as u32);
            let invocations = self.block(&at).invocations();
            for (metric, name) in &metrics {
                let is = is.get(&(index, *metric)).copied().unwrap_or_default();
                let what = || self.says(&format!("block {at:?}, {name}"));
                verdict.same("counters", what, is, class.number(name) * invocations);
            }
        }
    }
}
