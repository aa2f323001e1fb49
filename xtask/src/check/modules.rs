//! Which file may name which inside a crate: none in a circle, and none in a layer above its own.
//!
//! A file names another when a path in its code ends at an item that the other defines: paths are resolved as the compiler
//! does, through `use`, aliases, globs and re-exports, so a face (`pub use`) ties nobody to what it does not use. Code under
//! `#[cfg(test)]` may name anything. Guarantees: every circle is reported once, with the names that tie it. Does not see
//! methods called on a value, as they need no path, nor what macros expand to.

use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, Meta, UseTree};

/// The layers of a crate's modules, by the folder of its sources; from the lowest to the highest.
const LAYERS: &[(&str, &[&[&str]])] = &[
    (
        "replay/src",
        &[
            &["error", "fault", "options", "progress", "report", "under_way", "generated", "texels"],
            &["objects", "link", "lifetimes"],
            &["preflight", "usage", "frames"],
            &["backend", "hook/needs", "hook/commands", "exec", "hook"],
            &["vulkan"],
            &["looped"],
            &["session", "chain", "lib"],
        ],
    ),
    (
        "profile/src",
        &[
            &["limits", "probe"],
            &["spirv"],
            &["reflect", "needs"],
            &["rewrite", "pass"],
            &["texts", "passes"],
            &["hooks"],
            &["readback", "changes", "costs", "pictures", "lib"],
        ],
    ),
];

/// One module: a file, or a part of one.
#[derive(Default)]
struct Module {
    file: usize,
    parent: Option<usize>,
    children: BTreeMap<String, usize>,
    items: BTreeSet<String>,
    /// What a name stands for here, as the path that was written.
    aliases: BTreeMap<String, Vec<String>>,
    globs: Vec<Vec<String>>,
    /// Every path in its code.
    paths: Vec<Vec<String>>,
}

/// Where a path ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Module(usize),
    /// An item of this module.
    Item(usize),
}

#[derive(Default)]
struct Crate {
    modules: Vec<Module>,
    files: Vec<PathBuf>,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    targets: Vec<Target>,
}

#[derive(Deserialize)]
struct Target {
    kind: Vec<String>,
    src_path: PathBuf,
}

/// The circles of every library and program in the output of `cargo metadata --no-deps`, one finding each.
pub fn check(base: &Path, metadata: &str) -> Result<Vec<String>, String> {
    let metadata: Metadata =
        serde_json::from_str(metadata).map_err(|error| format!("cargo metadata's output: {error}"))?;
    let mut findings = Vec::new();
    for target in metadata.packages.iter().flat_map(|p| &p.targets) {
        if target.kind.iter().any(|k| k == "lib" || k == "bin" || k == "proc-macro") {
            findings.extend(of_crate(base, &target.src_path)?);
        }
    }
    Ok(findings)
}

/// The circles of the crate whose root is this file, one finding each; paths are told from `base`.
fn of_crate(base: &Path, root: &Path) -> Result<Vec<String>, String> {
    let mut all = Crate::default();
    let folder = root.parent().ok_or_else(|| format!("{}: has no folder", root.display()))?;
    all.file(root, folder, None)?;
    let edges = all.edges();
    let name = |f: usize| all.files[f].strip_prefix(base).unwrap_or(&all.files[f]).display().to_string();
    let findings = circles(all.files.len(), &edges).into_iter().map(|circle| {
        let mut text = format!("a circle of {} files", circle.len());
        for (&(from, to), names) in &edges {
            if circle.contains(&from) && circle.contains(&to) {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                text += &format!("\n    {} -> {}: {}", name(from), name(to), names.join(", "));
            }
        }
        text
    });
    let mut findings: Vec<String> = findings.collect();
    let folder = folder.strip_prefix(base).unwrap_or(folder).to_string_lossy().replace('\\', "/");
    if let Some((_, layers)) = LAYERS.iter().find(|l| l.0 == folder) {
        let layer = |f: usize| {
            let path = name(f);
            let path = path.strip_prefix(&format!("{folder}/"))?;
            let is_in = |room: &str| path.strip_prefix(room).is_some_and(|rest| rest.starts_with(['/', '.']));
            let rooms = layers.iter().enumerate().flat_map(|(i, l)| l.iter().map(move |r| (i, *r)));
            // The longest name is the nearest.
            rooms.filter(|(_, r)| is_in(r)).max_by_key(|(_, r)| r.len()).map(|(i, _)| i)
        };
        for f in (0..all.files.len()).filter(|&f| layer(f).is_none()) {
            findings.push(format!("{}: in no layer: say in which, in {}", name(f), file!()));
        }
        for (&(from, to), names) in edges.iter().filter(|((from, to), _)| layer(*from) < layer(*to)) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            findings.push(format!("{} -> {}: a layer above: {}", name(from), name(to), names.join(", ")));
        }
    }
    Ok(findings)
}

impl Crate {
    /// Reads a file and what it declares; `folder` is where its modules lie.
    fn file(&mut self, path: &Path, folder: &Path, parent: Option<usize>) -> Result<usize, String> {
        let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let parsed = syn::parse_file(&text).map_err(|e| format!("{}: {e}", path.display()))?;
        self.files.push(path.to_owned());
        let file = self.files.len() - 1;
        self.module(&parsed.items, file, folder, parent)
    }

    fn module(
        &mut self,
        items: &[Item],
        file: usize,
        folder: &Path,
        parent: Option<usize>,
    ) -> Result<usize, String> {
        let me = self.modules.len();
        self.modules.push(Module { file, parent, ..Module::default() });
        for item in items.iter().filter(|i| !is_test(attributes(i))) {
            match item {
                Item::Mod(m) => {
                    let name = m.ident.to_string();
                    let inner = folder.join(&name);
                    let child = match &m.content {
                        Some((_, items)) => self.module(items, file, &inner, Some(me))?,
                        None => {
                            let beside = folder.join(format!("{name}.rs"));
                            let path = if beside.exists() { beside } else { inner.join("mod.rs") };
                            self.file(&path, &inner, Some(me))?
                        }
                    };
                    self.modules[me].children.insert(name, child);
                }
                Item::Use(u) => self.uses(me, &u.tree, &mut Vec::new()),
                other => {
                    self.modules[me].items.extend(defined(other));
                    let mut seen = Paths(&mut self.modules[me].paths);
                    seen.visit_item(other);
                }
            }
        }
        Ok(me)
    }

    fn uses(&mut self, me: usize, tree: &UseTree, so_far: &mut Vec<String>) {
        let module = &mut self.modules[me];
        let mut name = |alias: String, last: String| {
            let mut path = so_far.clone();
            if last != "self" {
                path.push(last);
            }
            module.aliases.insert(alias, path.clone());
            module.paths.push(path);
        };
        match tree {
            UseTree::Name(n) if n.ident == "self" => {
                name(so_far.last().cloned().unwrap_or_default(), "self".into());
            }
            UseTree::Name(n) => name(n.ident.to_string(), n.ident.to_string()),
            UseTree::Rename(r) => name(r.rename.to_string(), r.ident.to_string()),
            UseTree::Glob(_) => module.globs.push(so_far.clone()),
            UseTree::Group(g) => g.items.iter().for_each(|t| self.uses(me, t, so_far)),
            UseTree::Path(p) => {
                so_far.push(p.ident.to_string());
                self.uses(me, &p.tree, so_far);
                so_far.pop();
            }
        }
    }

    /// Where a path that is written in `module` ends, if it is inside this crate.
    fn resolve(&self, module: usize, path: &[String], depth: u32) -> Option<End> {
        let (first, rest) = path.split_first()?;
        let start = match first.as_str() {
            "crate" => End::Module(0),
            "self" => End::Module(module),
            "super" => End::Module(self.modules[module].parent?),
            name => self.named(module, name, depth)?,
        };
        self.follow(start, rest, depth)
    }

    fn follow(&self, start: End, rest: &[String], depth: u32) -> Option<End> {
        let mut at = start;
        for segment in rest {
            let End::Module(m) = at else { return Some(at) };
            at = match segment.as_str() {
                "self" => at,
                "super" => End::Module(self.modules[m].parent?),
                name => self.named(m, name, depth)?,
            };
        }
        Some(at)
    }

    /// What a name stands for in a module.
    fn named(&self, m: usize, name: &str, depth: u32) -> Option<End> {
        if depth > 16 {
            return None; // a circle of re-exports
        }
        let module = &self.modules[m];
        if let Some(&child) = module.children.get(name) {
            return Some(End::Module(child));
        }
        if module.items.contains(name) {
            return Some(End::Item(m));
        }
        // In `use name::…;` the name itself is never the alias that this line makes.
        if let Some(path) = module.aliases.get(name).filter(|p| p.len() > 1 || p[0] != name) {
            return self.resolve(m, path, depth + 1);
        }
        module.globs.iter().find_map(|path| {
            let End::Module(from) = self.resolve(m, path, depth + 1)? else { return None };
            self.named(from, name, depth + 1)
        })
    }

    /// Which file names which, and by what.
    fn edges(&self) -> BTreeMap<(usize, usize), BTreeSet<String>> {
        let mut edges: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
        for (m, module) in self.modules.iter().enumerate() {
            for path in &module.paths {
                let Some(End::Item(to)) = self.resolve(m, path, 0) else { continue };
                let to = self.modules[to].file;
                if to != module.file {
                    let name = path.last().cloned().unwrap_or_default();
                    edges.entry((module.file, to)).or_default().insert(name);
                }
            }
        }
        edges
    }
}

/// The names that an item brings into its module.
fn defined(item: &Item) -> Option<String> {
    let ident = match item {
        Item::Const(i) => &i.ident,
        Item::Enum(i) => &i.ident,
        Item::Fn(i) => &i.sig.ident,
        Item::Macro(i) => i.ident.as_ref()?,
        Item::Static(i) => &i.ident,
        Item::Struct(i) => &i.ident,
        Item::Trait(i) => &i.ident,
        Item::Type(i) => &i.ident,
        Item::Union(i) => &i.ident,
        _ => return None,
    };
    Some(ident.to_string())
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(i) => &i.attrs,
        Item::Enum(i) => &i.attrs,
        Item::Fn(i) => &i.attrs,
        Item::Impl(i) => &i.attrs,
        Item::Mod(i) => &i.attrs,
        Item::Static(i) => &i.attrs,
        Item::Struct(i) => &i.attrs,
        Item::Trait(i) => &i.attrs,
        Item::Type(i) => &i.attrs,
        Item::Use(i) => &i.attrs,
        _ => &[],
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes
        .iter()
        .any(|a| matches!(&a.meta, Meta::List(l) if l.path.is_ident("cfg") && l.tokens.to_string() == "test"))
}

/// Collects every path of an item.
struct Paths<'a>(&'a mut Vec<Vec<String>>);

impl<'ast> Visit<'ast> for Paths<'_> {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.0.push(path.segments.iter().map(|s| s.ident.to_string()).collect());
        visit::visit_path(self, path);
    }
    fn visit_item_use(&mut self, _: &'ast syn::ItemUse) {}
}

/// The strongly connected parts of more than one file (Tarjan 1972).
fn circles(files: usize, edges: &BTreeMap<(usize, usize), BTreeSet<String>>) -> Vec<BTreeSet<usize>> {
    struct Search<'a> {
        next: usize,
        order: Vec<Option<usize>>,
        low: Vec<usize>,
        stack: Vec<usize>,
        out: Vec<Vec<usize>>,
        found: &'a mut Vec<BTreeSet<usize>>,
    }
    impl Search<'_> {
        fn from(&mut self, v: usize) -> usize {
            self.order[v] = Some(self.next);
            self.low[v] = self.next;
            self.next += 1;
            let depth = self.stack.len();
            self.stack.push(v);
            for w in self.out[v].clone() {
                let low = match self.order[w] {
                    None => self.from(w),
                    Some(n) if self.stack.contains(&w) => n,
                    Some(_) => continue,
                };
                self.low[v] = self.low[v].min(low);
            }
            if Some(self.low[v]) == self.order[v] {
                let part: BTreeSet<usize> = self.stack.drain(depth..).collect();
                if part.len() > 1 {
                    self.found.push(part);
                }
            }
            self.low[v]
        }
    }
    let mut out = vec![Vec::new(); files];
    edges.keys().for_each(|&(from, to)| out[from].push(to));
    let mut found = Vec::new();
    let mut search = Search {
        next: 0,
        order: vec![None; files],
        low: vec![0; files],
        stack: Vec::new(),
        out,
        found: &mut found,
    };
    (0..files).for_each(|v| {
        if search.order[v].is_none() {
            search.from(v);
        }
    });
    found
}
