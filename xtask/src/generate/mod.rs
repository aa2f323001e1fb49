//! `cargo xtask generate --registry DIR [--call-ids FILE] [--check]`: the schema tables of gfxr-parse, and the call sites
//! of replay.
//!
//! Reads `DIR/vk.xml`, `DIR/video.xml`, the call ids (`DIR/vulkan-call-ids.tsv` unless said otherwise) and the
//! overlay; writes `gfxr-parse/src/schema/generated/` and `replay/src/generated/`. With `--check` it writes nothing and fails on the first line
//! that differs. Guarantees: the same input gives the same bytes. Refuses any construct of the registry that it has
//! no rule for, naming the type and the member.

mod ash;
mod capabilities;
mod decl;
mod emit;
mod error;
mod invoke;
mod layout;
mod looked_at;
mod model;
mod overlay;
mod registry;
mod resolve;
mod tables;
#[cfg(test)]
mod tests;

use error::Result;
use std::path::{Path, PathBuf};

struct Options {
    registry: PathBuf,
    call_ids: PathBuf,
    check: bool,
    ash_source: Option<PathBuf>,
}

const USAGE: &str =
    "usage: cargo xtask generate --registry DIR [--call-ids FILE] [--check] [--ash-source DIR]

  --registry DIR    folder with vk.xml and video.xml
  --call-ids FILE   gfxreconstruct's call ids; DIR/vulkan-call-ids.tsv unless given
  --check           write nothing, fail if the committed tables differ
  --ash-source DIR  first rewrite the list of structs that the layout test compares with ash";

/// The sub-command's entry.
pub fn run(args: &[String]) -> Result<()> {
    let options = parse(args)?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("no workspace root")?;
    if let Some(source) = &options.ash_source {
        ash::write_list(source, root)?;
    }
    let mut registry = registry::Registry::default();
    for file in ["vk.xml", "video.xml"] {
        registry.add(&read(&options.registry.join(file))?, file)?;
    }
    registry.add(overlay::EXTRA, "overlay.xml")?;
    let tables = tables::build(&registry, &call_ids(&read(&options.call_ids)?)?)?;
    let mut files = emit::files(&tables);
    files.push(("capabilities.rs", capabilities::file(&tables, &registry)));
    files.push(("layout_test.rs", ash::layout_test(&tables, &registry, root)?));
    let folders = [
        (root.join("gfxr-parse/src/schema/generated"), files),
        (root.join("replay/src/generated"), invoke::files(&tables)),
    ];
    folders.iter().try_for_each(
        |(folder, files)| if options.check { check(folder, files) } else { write(folder, files) },
    )
}

fn parse(args: &[String]) -> Result<Options> {
    let (mut registry, mut ids, mut check, mut ash_source) = (None, None, false, None);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let mut path =
            || args.next().map(PathBuf::from).ok_or_else(|| format!("{arg} wants a value\n\n{USAGE}"));
        match arg.as_str() {
            "--registry" => registry = Some(path()?),
            "--call-ids" => ids = Some(path()?),
            "--ash-source" => ash_source = Some(path()?),
            "--check" => check = true,
            other => return Err(format!("unknown option `{other}`\n\n{USAGE}")),
        }
    }
    let registry = registry.ok_or_else(|| format!("--registry is missing\n\n{USAGE}"))?;
    let call_ids = ids.unwrap_or_else(|| registry.join("vulkan-call-ids.tsv"));
    Ok(Options { registry, call_ids, check, ash_source })
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

/// Lines of `0x1000<TAB>vkCreateInstance`; `#` begins a comment.
fn call_ids(text: &str) -> Result<Vec<(u32, String)>> {
    let mut ids: Vec<(u32, String)> = Vec::new();
    for line in text.lines().filter(|l| !l.is_empty() && !l.starts_with('#')) {
        let refuse = || format!("call ids: cannot read `{line}`");
        let (id, name) = line.split_once('\t').ok_or_else(refuse)?;
        let id = u16::from_str_radix(id.trim_start_matches("0x"), 16).map_err(|_| refuse())?.into();
        if ids.iter().any(|known| known.0 == id || known.1 == name) {
            return Err(format!("call ids: `{line}` appears twice"));
        }
        ids.push((id, name.to_owned()));
    }
    Ok(ids)
}

fn write(folder: &Path, files: &[emit::File]) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    for (name, text) in files {
        let path = folder.join(name);
        if std::fs::read_to_string(&path).is_ok_and(|old| old == *text) {
            continue;
        }
        std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(())
}

/// Fails on the first line of the first file that differs, and on files that should not be there.
fn check(folder: &Path, files: &[emit::File]) -> Result<()> {
    for (name, text) in files {
        let path = folder.join(name);
        let old = read(&path)?;
        if old == *text {
            continue;
        }
        let differs = old.lines().zip(text.lines()).position(|(a, b)| a != b);
        let line = differs.unwrap_or_else(|| old.lines().count().min(text.lines().count()));
        let at = |text: &str| text.lines().nth(line).unwrap_or("(end of file)").trim().to_owned();
        return Err(format!(
            "{}:{}: the committed tables are not what the registry gives\n  committed: {}\n  generated: {}\n\
             run `cargo xtask generate --registry DIR` and commit the result",
            path.display(),
            line + 1,
            at(&old),
            at(text)
        ));
    }
    for entry in std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))? {
        let name = entry.map_err(|e| e.to_string())?.file_name();
        if !files.iter().any(|f| name == f.0) {
            return Err(format!("{}: not a generated file", folder.join(name).display()));
        }
    }
    Ok(())
}
