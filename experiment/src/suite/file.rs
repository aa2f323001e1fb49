//! A suite file: TOML that says what is measured, under which plans, and what counts as a change (docs/suites.md).
//!
//! Guarantees: what is not understood is an error that names the file and the line, and what was expected; a key of `[defaults]`
//! holds for every `[[bench]]` that does not have it itself. Nothing here looks at captures, so that a suite is read where there
//! are none. Refuses unknown keys, another `schema_version`, and files beyond [`MOST_BYTES`].

use super::keys::{Frames, Many, MetricName, Pictures, Share, Text, Time};
use analyses::verdict::Metric;
use analyses::verdict::compare::Clock;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ops::Range;
use toml::Spanned;
use trace::plan::{PLAIN, Plan, is_name};

/// The version of the format.
pub const FILE_VERSION: u32 = 1;
/// Most bytes of a suite file.
pub const MOST_BYTES: u64 = 4 << 20;

/// A suite.
#[derive(Clone, Debug)]
pub struct Suite {
    /// Its name.
    pub name: String,
    /// The file's name, for messages.
    pub file: String,
    /// The file.
    pub text: String,
    /// Its BLAKE3, in hexadecimal.
    pub blake3: String,
    /// Plans, at least one.
    pub plans: Vec<Plan>,
    /// What is measured, at least one.
    pub benches: Vec<Bench>,
}

/// A `[[bench]]`.
#[derive(Clone, Debug)]
pub struct Bench {
    /// The line that it begins on.
    pub line: usize,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Captures and patterns for captures, as seen from the suite file.
    pub captures: Vec<String>,
    /// Frames; none: captures are replayed whole.
    pub frames: Vec<u64>,
    /// Plans, by their place.
    pub plans: Vec<usize>,
    /// How long one of its turns takes beside other benches' (1).
    pub weight: f64,
    /// Its own settings, and the defaults' where it has none.
    pub settings: Settings,
}

/// What `[defaults]` and every `[[bench]]` may say.
macro_rules! settings {
    ($( $(#[$doc:meta])* $field:ident: $of:ty, )*) => {
        /// How a bench is measured, and what counts as a change.
        #[derive(Clone, Debug, Default, Deserialize)]
        #[serde(deny_unknown_fields, rename_all = "kebab-case")]
        pub struct Settings {
            $( $(#[$doc])* pub $field: Option<$of>, )*
        }

        /// A `[[bench]]` as it is written.
        #[derive(Debug, Deserialize)]
        #[serde(deny_unknown_fields, rename_all = "kebab-case")]
        struct BenchTable {
            name: Option<Spanned<String>>,
            capture: Option<Spanned<String>>,
            captures: Option<Spanned<Many<String>>>,
            frames: Option<Spanned<Frames>>,
            plans: Option<Spanned<Vec<Spanned<String>>>>,
            weight: Option<Spanned<f64>>,
            $( $field: Option<$of>, )*
        }

        impl BenchTable {
            fn settings(&self, defaults: &Settings) -> Settings {
                Settings { $( $field: self.$field.clone().or_else(|| defaults.$field.clone()), )* }
            }
        }
    };
}

settings! {
    /// Processes of each plan.
    processes: u32,
    /// Timed turns of each process.
    iterations: u32,
    /// Turns at most before times have settled.
    warmup: u32,
    /// Turns with finer timestamps.
    detailed: u32,
    /// Milliseconds for which the device is kept busy before each turn of a frame.
    busy: u64,
    /// Where random numbers begin.
    seed: u64,
    /// When to stop.
    budget: Time,
    /// With a budget: how well medians have to be known.
    tight: Share,
    /// Metrics that are judged.
    metric: Many<MetricName>,
    /// The least change that matters.
    min_effect: Share,
    /// The greatest p that is significant.
    alpha: Alpha,
    /// Whose times.
    clock: ClockName,
    /// Pictures are taken and judged, and how far they may be apart.
    pictures: Pictures,
    /// Passes of a trace whose counts are judged.
    counts: Many<String>,
    /// The least change of a count that matters, by column.
    threshold: BTreeMap<String, Share>,
    /// The device.
    gpu: Text,
    /// Subgroup operations are taken for granted.
    assume_subgroups: bool,
    /// More flags of a replay.
    options: Vec<String>,
    /// The plan that the others are held against within one result.
    against: Spanned<String>,
}

/// A level of significance.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "f64")]
pub struct Alpha(pub f64);

impl TryFrom<f64> for Alpha {
    type Error = String;
    fn try_from(alpha: f64) -> Result<Self, String> {
        match alpha > 0.0 && alpha < 0.5 {
            true => Ok(Alpha(alpha)),
            false => Err("alpha is above 0 and below 0.5".into()),
        }
    }
}

/// `gpu` or `cpu`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct ClockName(pub Clock);

impl TryFrom<String> for ClockName {
    type Error = String;
    fn try_from(name: String) -> Result<Self, String> {
        match &*name {
            "gpu" => Ok(ClockName(Clock::Gpu)),
            "cpu" => Ok(ClockName(Clock::Cpu)),
            _ => Err(format!("clock is gpu or cpu, and not {name}")),
        }
    }
}

impl Settings {
    /// The metrics, each once.
    pub fn metrics(&self) -> Vec<Metric> {
        let mut all = vec![];
        for MetricName(m) in self.metric.iter().flat_map(|m| &m.0) {
            if !all.contains(m) {
                all.push(*m);
            }
        }
        if all.is_empty() { vec![Metric::Median] } else { all }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "schema_version")]
    _version: u32,
    name: Spanned<String>,
    #[serde(default)]
    defaults: Settings,
    #[serde(default)]
    plan: Vec<Spanned<PlanTable>>,
    #[serde(default)]
    bench: Vec<Spanned<BenchTable>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanTable {
    name: Spanned<String>,
    passes: Option<Many<String>>,
    method: Option<String>,
    change: Option<Many<String>>,
    shaders: Option<String>,
    descriptors: Option<String>,
    driver: Option<String>,
    gpu: Option<Text>,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

/// Reads one; `file` is its name, for messages.
pub fn parse(text: &str, file: &str) -> Result<Suite, String> {
    let at = |span: &Range<usize>| line(text, span.start);
    let wrong = |e: toml::de::Error| match e.span() {
        Some(span) => format!("{file}:{}: {}", at(&span), said(e.message())),
        None => format!("{file}: {}", said(e.message())),
    };
    // (first the version alone: another version's keys may be others)
    #[derive(Deserialize)]
    struct Version {
        schema_version: Option<Spanned<u32>>,
    }
    match toml::from_str::<Version>(text).map_err(wrong)?.schema_version {
        None => {
            return Err(format!("{file}: no schema_version; begin with `schema_version = {FILE_VERSION}`"));
        }
        Some(v) if *v.get_ref() != FILE_VERSION => {
            let line = at(&v.span());
            return Err(format!(
                "{file}:{line}: schema_version {}; this program reads {FILE_VERSION}",
                v.get_ref()
            ));
        }
        Some(_) => {}
    }
    let whole: File = toml::from_str(text).map_err(wrong)?;
    let no = |span: Range<usize>, what: String| Err(format!("{file}:{}: {what}", at(&span)));
    if whole.name.get_ref().trim().is_empty() {
        return no(whole.name.span(), "a suite has a name".into());
    }
    let mut plans: Vec<Plan> = vec![];
    for table in &whole.plan {
        let plan = match plan(table.get_ref()) {
            Ok(plan) => plan,
            Err(e) => return no(table.span(), e),
        };
        if plans.iter().any(|p| p.name == plan.name) {
            return no(table.get_ref().name.span(), format!("plan {} is there twice", plan.name));
        }
        plans.push(plan);
    }
    if plans.is_empty() {
        plans.push(Plan::named(PLAIN));
    }
    let names = || plans.iter().map(|p| p.name.as_str()).collect::<Vec<_>>().join(", ");
    let mut benches = vec![];
    for table in &whole.bench {
        let t = table.get_ref();
        let captures = match (&t.capture, &t.captures) {
            (Some(one), None) => vec![one.get_ref().clone()],
            (None, Some(many)) => many.get_ref().0.clone(),
            (Some(_), Some(many)) => return no(many.span(), "capture or captures, not both".into()),
            (None, None) => return no(table.span(), "a [[bench]] has a capture, or captures".into()),
        };
        if captures.is_empty() || captures.iter().any(String::is_empty) {
            return no(table.span(), "a capture is a file's name".into());
        }
        if let Some(name) = &t.name
            && !trace::suite::plain_name(name.get_ref())
        {
            let why =
                "a name becomes a folder's: letters, digits, `.`, `_` and `-`, and first a letter or digit";
            return no(name.span(), format!("{:?}: {why}", name.get_ref()));
        }
        let mut of = vec![];
        for asked in t.plans.iter().flat_map(|p| p.get_ref()) {
            let Some(n) = plans.iter().position(|p| p.name == *asked.get_ref()) else {
                return no(asked.span(), format!("no plan {}; there are {}", asked.get_ref(), names()));
            };
            if of.contains(&n) {
                return no(asked.span(), format!("plan {} is there twice", asked.get_ref()));
            }
            of.push(n);
        }
        match &t.plans {
            Some(p) if of.is_empty() => return no(p.span(), "a bench has one plan at least".into()),
            Some(_) => {}
            None => of = (0..plans.len()).collect(),
        }
        let weight = t.weight.as_ref().map_or(1.0, |w| *w.get_ref());
        if !(weight > 0.0 && weight.is_finite())
            && let Some(w) = &t.weight
        {
            return no(w.span(), format!("weight {weight}: a number above 0 (1 where it is left out)"));
        }
        let settings = t.settings(&whole.defaults);
        if let Some(a) = &settings.against
            && of.iter().all(|p| plans[*p].name != *a.get_ref())
        {
            let what = format!(
                "against {}: the [[bench]] on line {} has no such plan",
                a.get_ref(),
                at(&table.span())
            );
            return no(a.span(), what);
        }
        if settings.metric.as_ref().is_some_and(|m| m.0.is_empty()) {
            return no(table.span(), "metric is empty; leave it out for the median".into());
        }
        if settings.counts.is_some() && t.frames.is_none() {
            return no(table.span(), "counts are of a frame: frames = [K]".into());
        }
        benches.push(Bench {
            line: at(&table.span()),
            name: t.name.as_ref().map(|n| n.get_ref().clone()),
            captures,
            frames: t.frames.as_ref().map_or_else(Vec::new, |f| f.get_ref().0.clone()),
            plans: of,
            weight,
            settings,
        });
    }
    if benches.is_empty() {
        return Err(format!("{file}: nothing to measure; a suite has one [[bench]] at least"));
    }
    Ok(Suite {
        name: whole.name.into_inner(),
        file: file.to_owned(),
        text: text.to_owned(),
        blake3: blake3::hash(text.as_bytes()).to_hex().to_string(),
        plans,
        benches,
    })
}

/// A plan: each key as `bench --plan` takes it.
fn plan(table: &PlanTable) -> Result<Plan, String> {
    let name = table.name.get_ref().clone();
    if !is_name(&name) {
        return Err(format!("plan {name:?}: a name without `=` and commas"));
    }
    let mut plan = Plan::named(name);
    let passes = table.passes.as_ref().map(|p| p.0.join(","));
    for (key, value) in [
        ("passes", &passes),
        ("method", &table.method),
        ("shaders", &table.shaders),
        ("descriptors", &table.descriptors),
        ("driver", &table.driver),
        ("gpu", &table.gpu.as_ref().map(|g| g.0.clone())),
    ] {
        if let Some(value) = value {
            plan.set(key, value)?;
        }
    }
    for change in table.change.iter().flat_map(|c| &c.0) {
        plan.set("change", change)?;
    }
    for (variable, value) in &table.env {
        if variable.contains('=') {
            return Err(format!("plan {}: env: {variable:?} is no variable's name", plan.name));
        }
        plan.set("env", &format!("{variable}={value}"))?;
    }
    Ok(plan)
}

/// The line that a place is on, from 1.
fn line(text: &str, at: usize) -> usize {
    text.as_bytes().iter().take(at).filter(|b| **b == b'\n').count() + 1
}

/// A message of the reader's on one line.
fn said(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
