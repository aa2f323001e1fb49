//! What a package of the workspace needs before it can be published, or be built from what is published.
//!
//! - A name that is not taken by what it says alone (`replay`, `trace`): ours begin with [`PREFIX`].
//! - What a registry shows: a description, a licence and its text, a README, keywords, categories, what docs.rs builds.
//! - Versions beside the paths of dependencies, on packages that are published themselves.
//! - Everything that sources include lies in the package's own folder: nothing outside of it is packed.
//!
//! `scripts/package` proves the rest: it packs, and builds what was packed.

use super::sources::collect;
use serde::Deserialize;
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

/// What names of ours begin with; but for those in [`OWN`].
const PREFIX: &str = "reray-";

/// Names that nobody else would take.
const OWN: &[&str] = &["gfxr-parse"];

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Package {
    name: String,
    manifest_path: PathBuf,
    /// `null`: everywhere; empty: nowhere.
    publish: Option<Vec<String>>,
    description: Option<String>,
    documentation: Option<String>,
    license: Option<String>,
    readme: Option<PathBuf>,
    keywords: Vec<String>,
    categories: Vec<String>,
    metadata: serde_json::Value,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Dependency {
    name: String,
    req: String,
    kind: Option<String>,
    path: Option<PathBuf>,
}

impl Package {
    fn published(&self) -> bool {
        self.publish.as_ref().is_none_or(|to| !to.is_empty())
    }
}

/// What is missing, from the output of `cargo metadata --no-deps`; a finding each.
pub fn check(metadata: &str) -> Result<Vec<String>, String> {
    let metadata: Metadata =
        serde_json::from_str(metadata).map_err(|error| format!("cargo metadata's output: {error}"))?;
    let published: Vec<&Package> = metadata.packages.iter().filter(|p| p.published()).collect();
    let names: Vec<&str> = published.iter().map(|p| p.name.as_str()).collect();
    let mut findings = Vec::new();
    for package in &published {
        findings.extend(shown(package).into_iter().chain(depends(package, &names)));
        let folder = package.manifest_path.parent().unwrap_or(Path::new(""));
        if folder.is_dir() {
            findings.extend(files(package, folder).map_err(|e| format!("{}: {e}", folder.display()))?);
        }
    }
    Ok(findings)
}

/// What a registry shows of it.
fn shown(p: &Package) -> Vec<String> {
    let text = |t: &Option<String>| t.as_ref().is_some_and(|t| !t.is_empty());
    let words = |all: &[String]| !all.is_empty() && all.len() <= 5 && all.iter().all(|w| w.len() <= 20);
    let wants = [
        (p.name.starts_with(PREFIX) || OWN.contains(&p.name.as_str()), "a name of our own: reray-…"),
        (text(&p.description), "a description"),
        (text(&p.documentation), "documentation (the page that it is read on)"),
        (text(&p.license), "a license"),
        (p.readme.is_some(), "a readme"),
        (words(&p.keywords), "one to five keywords of at most 20 letters"),
        (!p.categories.is_empty() && p.categories.len() <= 5, "one to five categories"),
        (p.metadata.pointer("/docs/rs").is_some(), "package.metadata.docs.rs"),
    ];
    wants.iter().filter(|w| !w.0).map(|w| format!("{}: is published, and lacks {}", p.name, w.1)).collect()
}

/// Dependencies that nobody else would find. (Those of tests that have no version are left out of a package.)
fn depends(p: &Package, published: &[&str]) -> Vec<String> {
    let ours = p.dependencies.iter().filter(|d| d.path.is_some());
    ours.filter(|d| d.kind.as_deref() != Some("dev") || d.req != "*")
        .filter_map(|d| match (d.req.as_str(), published.contains(&d.name.as_str())) {
            ("*", _) => Some(format!("{} -> {}: a path without a version", p.name, d.name)),
            (_, false) => Some(format!("{} -> {}: which is not published", p.name, d.name)),
            _ => None,
        })
        .collect()
}

/// Files that would be missing from the package.
fn files(p: &Package, folder: &Path) -> io::Result<Vec<String>> {
    let mut findings = Vec::new();
    let beside = ["LICENSE-APACHE".as_ref(), "LICENSE-MIT".as_ref()];
    for file in beside.into_iter().chain(p.readme.as_deref()) {
        if fs::read(folder.join(file)).is_err() {
            findings.push(format!("{}: {} is not there", p.name, folder.join(file).display()));
        }
    }
    let mut sources = Vec::new();
    collect(&folder.join("src"), &mut sources)?;
    for source in sources {
        let at = source.parent().unwrap_or(folder);
        for file in included(&fs::read_to_string(&source)?) {
            let file = normal(&at.join(file));
            if !file.starts_with(folder) || !file.is_file() {
                findings.push(format!(
                    "{}: includes {}, which is not in {}'s package",
                    source.display(),
                    file.display(),
                    p.name
                ));
            }
        }
    }
    Ok(findings)
}

/// The files that a source names in `include_str!` and `include_bytes!`.
fn included(text: &str) -> impl Iterator<Item = &str> {
    ["include_str!(\"", "include_bytes!(\""]
        .into_iter()
        .flat_map(|call| text.split(call).skip(1))
        .filter_map(|rest| rest.split_once('"').map(|(file, _)| file))
}

/// Without `..`.
fn normal(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut all, part| {
        match part {
            Component::ParentDir => _ = all.pop(),
            Component::CurDir => (),
            part => all.push(part),
        }
        all
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole() -> serde_json::Value {
        serde_json::json!({
            "name": "reray-trace", "description": "x", "documentation": "x", "license": "MIT", "readme": "README.md",
            "manifest_path": "/nowhere/Cargo.toml", "keywords": ["gpu"], "categories": ["graphics"],
            "metadata": {"docs": {"rs": {}}},
            "dependencies": [{"name": "serde", "req": "^1"}],
        })
    }

    fn findings(package: serde_json::Value) -> Vec<String> {
        check(&serde_json::json!({ "packages": [package] }).to_string()).expect("it reads")
    }

    #[test]
    fn what_is_whole_passes_and_what_stays_here_may_lack_all() {
        assert_eq!(findings(whole()), [""; 0]);
        assert_eq!(findings(serde_json::json!({"name": "xtask", "publish": []})), [""; 0]);
    }

    #[test]
    fn what_is_missing_is_named() {
        for (key, says) in [
            ("description", "a description"),
            ("documentation", "documentation"),
            ("license", "a license"),
            ("readme", "a readme"),
            ("keywords", "keywords"),
            ("categories", "categories"),
            ("metadata", "docs.rs"),
        ] {
            let mut package = whole();
            package.as_object_mut().expect("an object").remove(key);
            let found = findings(package);
            assert!(found.len() == 1 && found[0].contains(says), "{key}: {found:?}");
        }
        let mut package = whole();
        package["name"] = "trace".into();
        assert!(findings(package)[0].contains("reray-"));
    }

    #[test]
    fn paths_alone_do_not_lead_anywhere() {
        for (dependency, finding) in [
            (serde_json::json!({"name": "a", "req": "*", "path": "/a"}), Some("a path without a version")),
            (serde_json::json!({"name": "a", "req": "^1", "path": "/a"}), Some("not published")),
            (serde_json::json!({"name": "a", "req": "*", "path": "/a", "kind": "dev"}), None),
        ] {
            let mut package = whole();
            package["dependencies"] = serde_json::json!([dependency]);
            let found = findings(package);
            assert_eq!(found.len(), usize::from(finding.is_some()), "{found:?}");
            assert!(finding.is_none_or(|f| found[0].contains(f)), "{found:?}");
        }
    }

    #[test]
    fn what_sources_include_is_seen() {
        let text =
            "const A: &str = include_str!(\"a/b.txt\"); let b = words(include_bytes!(\"../../c.spv\"));";
        assert_eq!(included(text).collect::<Vec<_>>(), ["a/b.txt", "../../c.spv"]);
        assert_eq!(normal(Path::new("/x/src/hooks/../../c.spv")), Path::new("/x/c.spv"));
    }
}
