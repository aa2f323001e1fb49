//! Which crate may name which.
//!
//! ```text
//! gfxr-parse, pointers <- world <- replay <- profile <- experiment <- src   trace <- profile   trace <- analyses <- experiment, src
//!              world, analyses <- database <- experiment, src      mcp <- src
//! ```
//!
//! Nothing lower names anything higher. A few crates are also kept away from libraries whose presence would
//! mean that a layer does another's work. A crate without a rule here is a finding, so that a new one is
//! given its place. Only direct dependencies are looked at; the layers below are held by their own rules.

use serde::Deserialize;

/// What one crate of the workspace may depend on.
struct Rule {
    name: &'static str,
    /// Crates of the workspace it may name, in any kind of dependency.
    ours: &'static [&'static str],
    /// Outside libraries that it must not name.
    barred: &'static [&'static str],
    /// Whether its tests may use what is barred otherwise.
    tests_may: bool,
}

const RULES: &[Rule] = &[
    Rule { name: "gfxr-parse", ours: &[], barred: &["ash", "rspirv"], tests_may: true },
    Rule { name: "reray-pointers", ours: &[], barred: &["ash"], tests_may: false },
    Rule { name: "reray-world", ours: &["gfxr-parse"], barred: &["ash", "rspirv"], tests_may: false },
    Rule {
        name: "reray-replay-vulkan",
        ours: &["gfxr-parse", "reray-pointers", "reray-world"],
        barred: &["rspirv"],
        tests_may: false,
    },
    Rule {
        name: "reray-profile",
        ours: &["gfxr-parse", "reray-pointers", "reray-world", "reray-replay-vulkan", "reray-trace"],
        barred: &[],
        tests_may: false,
    },
    Rule { name: "reray-trace", ours: &[], barred: &["ash", "rspirv"], tests_may: false },
    Rule { name: "reray-analyses", ours: &["reray-trace"], barred: &["ash", "rspirv"], tests_may: false },
    Rule {
        name: "reray-database",
        ours: &["gfxr-parse", "reray-world", "reray-trace", "reray-analyses"],
        barred: &["ash", "rspirv"],
        tests_may: false,
    },
    Rule {
        name: "reray-experiment",
        ours: &[
            "reray-database",
            "gfxr-parse",
            "reray-world",
            "reray-replay-vulkan",
            "reray-profile",
            "reray-trace",
            "reray-analyses",
        ],
        barred: &["ash", "rspirv", "clap"],
        tests_may: false,
    },
    Rule { name: "reray-mcp", ours: &[], barred: &["ash", "rspirv"], tests_may: false },
    Rule { name: "captures", ours: &["gfxr-parse"], barred: &["rspirv"], tests_may: false },
    Rule {
        name: "reray-replay",
        ours: &[
            "gfxr-parse",
            "reray-world",
            "reray-replay-vulkan",
            "reray-profile",
            "reray-trace",
            "reray-analyses",
            "reray-database",
            "reray-experiment",
            "reray-mcp",
            "captures",
            "arm-layer",
        ],
        barred: &[],
        tests_may: false,
    },
    Rule { name: "arm-layer", ours: &[], barred: &["rspirv"], tests_may: false },
    Rule { name: "xtask", ours: &["gfxr-parse"], barred: &[], tests_may: false },
];

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    /// `null` is a normal dependency; else `"dev"` or `"build"`.
    kind: Option<String>,
}

/// The wrong arrows in the output of `cargo metadata --no-deps`, one finding each.
pub fn check(metadata: &str) -> Result<Vec<String>, String> {
    let metadata: Metadata =
        serde_json::from_str(metadata).map_err(|error| format!("cargo metadata's output: {error}"))?;
    let ours: Vec<&str> = metadata.packages.iter().map(|package| package.name.as_str()).collect();

    let mut findings = Vec::new();
    for package in &metadata.packages {
        let Some(rule) = RULES.iter().find(|rule| rule.name == package.name) else {
            findings.push(format!("{}: no rule says what it may name: add one to {}", package.name, file!()));
            continue;
        };
        for dependency in &package.dependencies {
            let name = dependency.name.as_str();
            let is_ours = ours.contains(&name) || RULES.iter().any(|rule| rule.name == name);
            let is_test = dependency.kind.as_deref() == Some("dev");
            if is_ours && !rule.ours.contains(&name) {
                findings.push(format!(
                    "{} -> {name}: a wrong arrow; {} may name {}",
                    rule.name,
                    rule.name,
                    if rule.ours.is_empty() { "none of ours".to_owned() } else { rule.ours.join(", ") },
                ));
            } else if rule.barred.contains(&name) && !(is_test && rule.tests_may) {
                findings.push(format!("{} -> {name}: this layer must not know {name}", rule.name));
            }
        }
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::check;

    /// A package's name, and what it depends on: (name, kind).
    type Package<'a> = (&'a str, &'a [(&'a str, Option<&'a str>)]);

    /// Metadata with these packages.
    fn metadata(packages: &[Package<'_>]) -> String {
        let packages: Vec<_> = packages
            .iter()
            .map(|(name, dependencies)| {
                let dependencies: Vec<_> = dependencies
                    .iter()
                    .map(|(name, kind)| serde_json::json!({"name": name, "kind": kind, "req": "*"}))
                    .collect();
                serde_json::json!({"name": name, "dependencies": dependencies})
            })
            .collect();
        serde_json::json!({"packages": packages, "version": 1}).to_string()
    }

    #[test]
    fn the_design_s_own_arrows_pass() {
        let metadata = metadata(&[
            ("gfxr-parse", &[("nom", None), ("ash", Some("dev"))]),
            ("reray-replay-vulkan", &[("gfxr-parse", None), ("ash", None)]),
            ("reray-profile", &[("reray-replay-vulkan", None), ("reray-trace", None), ("rspirv", None)]),
            ("reray-trace", &[("serde", None)]),
            ("reray-analyses", &[("reray-trace", None), ("hdrhistogram", None)]),
            ("captures", &[("ash", None), ("gfxr-parse", None)]),
            (
                "reray-replay",
                &[("reray-replay-vulkan", None), ("reray-analyses", None), ("reray-profile", None)],
            ),
            ("xtask", &[("gfxr-parse", None)]),
        ]);
        assert_eq!(check(&metadata), Ok(vec![]));
    }

    #[test]
    fn an_arrow_upwards_is_found() {
        let metadata =
            metadata(&[("gfxr-parse", &[("reray-replay-vulkan", None)]), ("reray-replay-vulkan", &[])]);
        assert_eq!(
            check(&metadata),
            Ok(vec![
                "gfxr-parse -> reray-replay-vulkan: a wrong arrow; gfxr-parse may name none of ours".into()
            ])
        );
    }

    #[test]
    fn an_arrow_upwards_is_found_among_tests_and_build_scripts_too() {
        let metadata = metadata(&[(
            "reray-replay-vulkan",
            &[("reray-profile", Some("dev")), ("reray-analyses", Some("build"))],
        )]);
        assert_eq!(check(&metadata).unwrap().len(), 2);
    }

    #[test]
    fn barred_libraries_are_found() {
        let metadata = metadata(&[
            ("gfxr-parse", &[("ash", None)]),
            ("reray-replay-vulkan", &[("rspirv", None)]),
            ("reray-analyses", &[("ash", None), ("rspirv", Some("dev"))]),
        ]);
        assert_eq!(
            check(&metadata),
            Ok(vec![
                "gfxr-parse -> ash: this layer must not know ash".into(),
                "reray-replay-vulkan -> rspirv: this layer must not know rspirv".into(),
                "reray-analyses -> ash: this layer must not know ash".into(),
                "reray-analyses -> rspirv: this layer must not know rspirv".into(),
            ])
        );
    }

    #[test]
    fn a_crate_without_a_rule_is_found() {
        let findings = check(&metadata(&[("helpers", &[])])).unwrap();
        assert!(findings[0].starts_with("helpers: no rule says"), "{findings:?}");
    }

    #[test]
    fn what_is_not_metadata_is_an_error() {
        assert!(check("[]").is_err());
    }
}
