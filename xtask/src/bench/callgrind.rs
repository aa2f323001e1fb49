//! Callgrind's output, read for one question: how many instructions ran in which object file, and on whose behalf.
//!
//! Object files are of three kinds ([`Part`]). What runs in a shared one (libc, the allocator, a decompressor) runs for
//! whoever called it: a function's own instructions are divided among its callers as the instructions below the calls
//! are, and a caller that is shared itself is divided in turn. What nobody calls (a program's start, a thread's) is the
//! program's.
//!
//! A function of the program's own that calls one of the driver's more often than the capture has calls is waiting in a
//! loop (for a fence, say); how often it goes round depends on the driver's speed under callgrind and says nothing of the
//! program, so what it spends on all rounds but the first is told apart ([`Profile::polling`]).
//!
//! Guarantees: the parts add up to the total. Refuses files that are not callgrind's.

use std::collections::HashMap;

/// Whose an object file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// The replayer's own.
    Own,
    /// The driver's: the driver itself, LLVM and what it generated, the loader.
    Driver,
    /// Anybody's: it belongs to whoever calls it.
    Shared,
}

/// What was counted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// Instructions by object file, most first.
    pub objects: Vec<(String, u64)>,
    /// Instructions in the program's own object files.
    pub own: f64,
    /// Instructions in shared object files on the program's behalf.
    pub for_own: f64,
    /// Everything else.
    pub driver: f64,
    /// Of `own`, what went into going round in waiting loops.
    pub polling: f64,
    /// The program's functions, and shared ones with what they executed on its behalf: (object file, name,
    /// instructions), most first.
    pub functions: Vec<(String, String, f64)>,
}

impl Profile {
    /// What this one has more than another, of the same program.
    pub fn without(&self, other: &Profile) -> Profile {
        let object = |name: &str| other.objects.iter().find(|o| o.0 == name).map_or(0, |o| o.1);
        let functions: HashMap<(&str, &str), f64> =
            other.functions.iter().map(|(object, name, n)| ((object.as_str(), name.as_str()), *n)).collect();
        let mut more = Profile {
            objects: self.objects.iter().map(|(o, n)| (o.clone(), n.saturating_sub(object(o)))).collect(),
            own: self.own - other.own,
            for_own: self.for_own - other.for_own,
            driver: self.driver - other.driver,
            polling: self.polling - other.polling,
            functions: self.functions.clone(),
        };
        for (object, name, n) in &mut more.functions {
            *n -= functions.get(&(object.as_str(), name.as_str())).unwrap_or(&0.0);
        }
        more.sort();
        more
    }

    fn sort(&mut self) {
        self.objects.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        self.functions.sort_by(|a, b| b.2.total_cmp(&a.2).then_with(|| (&a.0, &a.1).cmp(&(&b.0, &b.1))));
    }
}

/// Which object file an object file's name names: the program's own is `program`.
pub fn part_of(object: &str, program: &str) -> Part {
    let name = object.rsplit('/').next().unwrap_or(object);
    let driver = [
        "libvulkan",
        "libLLVM",
        "libVkLayer",
        "libgallium",
        "libdrm",
        "libz3",
        "libelf",
        "libedit",
        "libexpat",
    ];
    match name {
        _ if name == program => Part::Own,
        "???" => Part::Driver, // code that LLVM made while it ran
        _ if driver.iter().any(|d| name.starts_with(d)) => Part::Driver,
        _ => Part::Shared,
    }
}

/// A function: object file and name, both by number.
type Function = (u32, u32);

#[derive(Default)]
struct Graph {
    objects: HashMap<u32, String>,
    names: HashMap<u32, String>,
    own_cost: HashMap<Function, u64>,
    /// (caller, called) -> instructions below the calls, and how many calls.
    calls: HashMap<(Function, Function), (u64, u64)>,
}

/// Reads a file's text; `program` is the name of the program's own object file, `calls` how many calls the capture has.
pub fn read(text: &str, program: &str, calls: u64) -> Result<Profile, String> {
    let graph = parse(text)?;
    let part: HashMap<u32, Part> =
        graph.objects.iter().map(|(&id, name)| (id, part_of(name, program))).collect();
    let part_of = |f: &Function| part.get(&f.0).copied().unwrap_or(Part::Shared);
    let shares = shares(&graph, part_of);
    let mut profile = Profile { polling: polling(&graph, part_of, calls), ..Profile::default() };
    let mut objects: HashMap<&str, u64> = HashMap::new();
    for (function, &cost) in &graph.own_cost {
        let mut list = |cost: f64| {
            let name = |names: &HashMap<u32, String>, id| names.get(&id).cloned().unwrap_or_default();
            profile.functions.push((name(&graph.objects, function.0), name(&graph.names, function.1), cost));
        };
        *objects.entry(graph.objects.get(&function.0).map_or("?", String::as_str)).or_default() += cost;
        let cost = cost as f64;
        match part_of(function) {
            Part::Own => {
                list(cost);
                profile.own += cost;
            }
            Part::Driver => profile.driver += cost,
            Part::Shared => {
                let share = shares.get(function).copied().unwrap_or(1.0);
                list(cost * share);
                profile.for_own += cost * share;
                profile.driver += cost * (1.0 - share);
            }
        }
    }
    profile.objects = objects.into_iter().map(|(name, cost)| (name.to_string(), cost)).collect();
    profile.sort();
    Ok(profile)
}

/// For each shared function, how much of it runs for the program: a fixed point, since functions call each other.
fn shares(graph: &Graph, part_of: impl Fn(&Function) -> Part) -> HashMap<Function, f64> {
    let mut callers: HashMap<Function, Vec<(Function, f64)>> = HashMap::new();
    for (&(caller, called), &(cost, _)) in &graph.calls {
        if caller != called && part_of(&called) == Part::Shared {
            callers.entry(called).or_default().push((caller, cost.max(1) as f64));
        }
    }
    let mut shares: HashMap<Function, f64> = callers.keys().map(|&f| (f, 1.0)).collect();
    for _ in 0..200 {
        let mut moved: f64 = 0.0;
        for (function, callers) in &callers {
            let of = |caller: &Function| match part_of(caller) {
                Part::Own => 1.0,
                Part::Driver => 0.0,
                Part::Shared => shares.get(caller).copied().unwrap_or(1.0),
            };
            let all: f64 = callers.iter().map(|c| c.1).sum();
            let share = callers.iter().map(|(caller, cost)| of(caller) * cost).sum::<f64>() / all;
            moved = moved.max((share - shares[function]).abs());
            shares.insert(*function, share);
        }
        if moved < 1e-6 {
            break;
        }
    }
    shares
}

/// What the program's own functions spend on waiting: see the header.
fn polling(graph: &Graph, part_of: impl Fn(&Function) -> Part, calls: u64) -> f64 {
    let mut called: HashMap<Function, u64> = HashMap::new();
    let mut polls: HashMap<Function, u64> = HashMap::new();
    for (&(from, to), &(_, n)) in &graph.calls {
        *called.entry(to).or_default() += n;
        if part_of(&from) == Part::Own && part_of(&to) == Part::Driver && n > calls {
            let most = polls.entry(from).or_default();
            *most = n.max(*most);
        }
    }
    let spent = |(f, rounds): (&Function, &u64)| {
        let first = called.get(f).copied().unwrap_or(1).min(*rounds);
        let cost = graph.own_cost.get(f).copied().unwrap_or(0);
        cost as f64 * (rounds - first) as f64 / *rounds as f64
    };
    polls.iter().map(spent).fold(0.0, |sum, n| sum + n)
}

fn parse(text: &str) -> Result<Graph, String> {
    if !text.starts_with("# callgrind format") {
        return Err("not a file of callgrind's".to_string());
    }
    let mut graph = Graph::default();
    let (mut object, mut function) = (0, 0);
    let (mut called_object, mut called_function) = (None, 0);
    let mut below = None;
    for line in text.lines() {
        let first = line.as_bytes().first().copied().unwrap_or(b' ');
        if matches!(first, b'0'..=b'9' | b'+' | b'-' | b'*') {
            let cost = line.split(' ').nth(1).and_then(|c| c.parse::<u64>().ok()).ok_or_else(|| odd(line))?;
            let here = (object, function);
            if let Some(n) = below.take() {
                let there = (called_object.take().unwrap_or(object), called_function);
                let sum = graph.calls.entry((here, there)).or_default();
                *sum = (sum.0 + cost, sum.1 + n);
            } else {
                *graph.own_cost.entry(here).or_default() += cost;
            }
            continue;
        }
        let Some((key, value)) = line.split_once('=') else { continue };
        match key {
            "ob" => object = graph.object(value)?,
            "cob" => called_object = Some(graph.object(value)?),
            "fn" => function = graph.function(value)?,
            "cfn" => called_function = graph.function(value)?,
            "calls" => {
                let n = value.split(' ').next().and_then(|n| n.parse::<u64>().ok());
                below = Some(n.ok_or_else(|| odd(line))?);
            }
            _ => {}
        }
    }
    Ok(graph)
}

impl Graph {
    fn function(&mut self, value: &str) -> Result<u32, String> {
        let (id, name) = number(value)?;
        if !name.is_empty() {
            self.names.insert(id, name.to_string());
        }
        Ok(id)
    }
    fn object(&mut self, value: &str) -> Result<u32, String> {
        let (id, name) = number(value)?;
        if !name.is_empty() {
            self.objects.insert(id, name.to_string());
        }
        Ok(id)
    }
}

/// `(12) name`, or `(12)` once the name is known.
fn number(value: &str) -> Result<(u32, &str), String> {
    let (id, name) = value.strip_prefix('(').and_then(|v| v.split_once(')')).ok_or_else(|| odd(value))?;
    Ok((id.parse().map_err(|_| odd(value))?, name.trim()))
}

fn odd(line: &str) -> String {
    format!("callgrind: what does \"{line}\" mean?")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
# callgrind format
events: Ir
ob=(1) /opt/replayer
fn=(1) main
10 100
cob=(2) /lib/libc.so.6
cfn=(2) malloc
calls=3 0
11 30
cob=(3) /lib/libvulkan_lvp.so
cfn=(3) draw
calls=1 0
12 560

ob=(3)
fn=(3)
20 500
cob=(2)
cfn=(2)
calls=6 0
21 60

ob=(2)
fn=(2)
+5 60
cfn=(4) inner
calls=9 0
* 30

fn=(4)
40 30

fn=(5) start
50 7
";

    #[test]
    fn shared_code_runs_for_its_callers() {
        let p = read(TEXT, "replayer", 10).unwrap();
        assert_eq!(
            p.objects,
            [
                ("/lib/libvulkan_lvp.so".to_string(), 500),
                ("/opt/replayer".to_string(), 100),
                ("/lib/libc.so.6".to_string(), 97)
            ]
        );
        assert_eq!(p.own, 100.0);
        // A third of malloc and of what it calls, and the start that nobody calls.
        assert!((p.for_own - (20.0 + 10.0 + 7.0)).abs() < 1e-3, "{p:?}");
        assert!((p.driver - (500.0 + 40.0 + 20.0)).abs() < 1e-3, "{p:?}");
        assert_eq!(p.polling, 0.0);
        assert_eq!(p.functions[0], ("/opt/replayer".to_string(), "main".to_string(), 100.0));
        assert_eq!(p.functions.len(), 4);
    }

    #[test]
    fn rounds_of_a_waiting_loop_are_told_apart() {
        let text = "\
# callgrind format
ob=(1) /opt/replayer
fn=(1) main
10 100
cfn=(2) wait
calls=5 0
11 9000

fn=(2)
20 5000
cob=(3) /lib/libvulkan_lvp.so
cfn=(3) status
calls=1000 0
21 4000

ob=(3)
fn=(3)
30 4000
";
        assert_eq!(read(text, "replayer", 999).unwrap().polling, 5000.0 * 995.0 / 1000.0);
        assert_eq!(read(text, "replayer", 1000).unwrap().polling, 0.0);
        assert_eq!(read(text, "replayer", 999).unwrap().own, 5100.0);
    }

    #[test]
    fn differences_are_by_name() {
        let p = read(TEXT, "replayer", 10).unwrap();
        let twice = TEXT.replace("10 100", "10 250");
        let more = read(&twice, "replayer", 10).unwrap().without(&p);
        assert_eq!((more.own, more.objects[0].1), (150.0, 150));
        assert_eq!(more.functions[0], ("/opt/replayer".to_string(), "main".to_string(), 150.0));
        assert!(more.driver.abs() < 1e-6 && more.functions[1..].iter().all(|f| f.2.abs() < 1e-6));
    }

    #[test]
    fn other_files_are_refused() {
        assert!(read("{}", "x", 1).is_err());
        assert!(read("# callgrind format\n12\n", "x", 1).unwrap_err().contains("\"12\""));
    }

    #[test]
    fn parts() {
        assert_eq!(part_of("/usr/bin/gfxrecon-replay", "gfxrecon-replay"), Part::Own);
        assert_eq!(part_of("/usr/lib/libLLVM-15.so.1", "x"), Part::Driver);
        assert_eq!(part_of("???", "x"), Part::Driver);
        assert_eq!(part_of("/usr/lib/liblz4.so.1", "x"), Part::Shared);
    }
}
