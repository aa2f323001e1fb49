//! The data of the layout test: what ash says of the structs that it shares with the registry.
//!
//! `ash_structs.txt` lists ash's structs and their fields; `--ash-source DIR` (the `src` folder of the ash crate that
//! the workspace uses) makes it again when ash changes. From it comes `layout_test.rs`: size, alignment, structure
//! type and offsets as the compiler sees them, for `schema/tests.rs` to compare. Guarantees: each listed struct and field is in the test.
//! Refuses a struct or field whose counterpart it cannot find.

use super::emit::header;
use super::error::Result;
use super::model::{Struct, Tables, Ty};
use super::registry::Registry;
use std::fmt::Write;
use std::path::Path;

const LIST: &str = "xtask/src/generate/ash_structs.txt";

const CHANGED: &str = "a provisional extension, changed since the registry that ash was made from";

/// Structs of ash that no longer have a counterpart or are laid out otherwise, and why.
const NOT_COMPARED: &[(&str, &str)] = &[
    ("AccelerationStructureReferenceKHR", "of ash's own making"),
    ("ExportFenceWin32HandleInfoKHR", "ash takes DWORD for unsigned long, which is 4 bytes on Windows only"),
    ("ExportMemoryWin32HandleInfoKHR", "DWORD, as above"),
    ("ExportMemoryWin32HandleInfoNV", "DWORD, as above"),
    ("ExportSemaphoreWin32HandleInfoKHR", "DWORD, as above"),
    ("PhysicalDeviceShaderEnqueuePropertiesAMDX", CHANGED),
    ("PhysicalDeviceShaderEnqueueFeaturesAMDX", CHANGED),
    ("ExecutionGraphPipelineScratchSizeAMDX", CHANGED),
    ("StreamDescriptorSurfaceCreateInfoGGP", "GgpStreamDescriptor: the table has the width on the wire, 8"),
];

/// Reads ash's definitions and writes the list.
pub fn write_list(source: &Path, root: &Path) -> Result<()> {
    let mut list = String::from(
        "# Structs of ash and their fields, in order. Made by `cargo xtask generate --ash-source`.\n",
    );
    for file in ["vk/definitions.rs", "vk/native.rs"] {
        let path = source.join(file);
        let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        for (name, fields) in structs(&text) {
            if !file.ends_with("native.rs") || name.starts_with("StdVideo") {
                let _ = writeln!(list, "{name} {}", fields.join(" "));
            }
        }
    }
    std::fs::write(root.join(LIST), list).map_err(|e| format!("{LIST}: {e}"))
}

/// Structs and unions with named fields.
fn structs(text: &str) -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let head = line.strip_prefix("pub struct ").or_else(|| line.strip_prefix("pub union "));
        let Some(head) = head.and_then(|h| h.strip_suffix('{')) else { continue };
        let name = head.split(['<', ' ']).next().unwrap_or_default().to_owned();
        let body = lines.by_ref().take_while(|l| !l.starts_with('}'));
        let field = |l: &str| Some(l.strip_prefix("    pub ")?.split_once(':')?.0.to_owned());
        found.push((name, body.filter_map(field).collect()));
    }
    found
}

/// The text of `layout_test.rs`.
pub fn layout_test(tables: &Tables, registry: &Registry, root: &Path) -> Result<String> {
    let list = std::fs::read_to_string(root.join(LIST)).map_err(|e| format!("{LIST}: {e}"))?;
    let mut rows = Vec::new();
    for line in list.lines().filter(|l| !l.starts_with('#')) {
        let mut words = line.split(' ').filter(|w| !w.is_empty());
        let ash = words.next().unwrap_or_default();
        if NOT_COMPARED.iter().any(|n| n.0 == ash) {
            continue;
        }
        let fields: Vec<&str> = words.collect();
        rows.push(row(tables, registry, ash, &fields).map_err(|e| format!("{LIST}: {ash}: {e}"))?);
    }
    let mut out = header(
        tables,
        "Layouts as ash and the compiler have them, for the tests to compare with the tables.",
    );
    out.push_str("#![allow(deprecated)]\n\nuse ash::vk;\nuse core::mem::{align_of, offset_of, size_of};\n\n");
    out.push_str("/// Name, size, alignment, structure type, and the members' names and offsets.\n");
    out.push_str(
        "pub type Layout = (&'static str, usize, usize, Option<i32>, &'static [(&'static str, usize)]);\n\n",
    );
    // In parts: the compiler's time grows with the square of one constant's length.
    let parts: Vec<&[String]> = rows.chunks(25).collect();
    for (i, part) in parts.iter().enumerate() {
        let _ = writeln!(out, "const PART_{i}: &[Layout] = &[\n{}];", part.concat());
    }
    let names: Vec<String> = (0..parts.len()).map(|i| format!("PART_{i}")).collect();
    let _ = writeln!(
        out,
        "\n/// In the order of ash's source.\npub static ASH: [&[Layout]; {}] = [{}];",
        names.len(),
        names.join(", ")
    );
    Ok(out)
}

fn row(tables: &Tables, registry: &Registry, ash: &str, fields: &[&str]) -> Result<String> {
    let video = ash.starts_with("StdVideo");
    let name = if video { ash.to_owned() } else { format!("Vk{ash}") };
    let name = registry.canonical(&name);
    let path = if video { format!("vk::native::{ash}") } else { format!("vk::{ash}") };
    let ours = tables.structs.iter().find(|s| s.name == name).ok_or_else(|| format!("no struct {name}"))?;
    let stype = match ours.stype {
        Some(_) => format!("Some(<{path} as vk::TaggedStructure>::STRUCTURE_TYPE.as_raw())"),
        None => "None".to_owned(),
    };
    let mut out = format!("    ({name:?}, size_of::<{path}>(), align_of::<{path}>(), {stype}, &[");
    for (member, field) in pairs(ours, fields)? {
        let _ = write!(out, "({member:?}, offset_of!({path}, {field})), ");
    }
    out.push_str("]),\n");
    Ok(out)
}

/// Members and the fields that are theirs. Bit-fields have no field of their own in Rust.
fn pairs<'a>(ours: &'a Struct, fields: &[&'a str]) -> Result<Vec<(&'a str, &'a str)>> {
    let plain = |name: &str| name.replace('_', "").to_lowercase();
    let mut pairs = Vec::new();
    for member in ours.members.iter().filter(|m| !matches!(m.ty, Ty::Bits { .. })) {
        let wanted = if member.name == "type" { "ty".to_owned() } else { plain(&member.name) };
        let field = fields.iter().find(|f| plain(f) == wanted || plain(f) == plain(&member.name));
        pairs.push((member.name.as_str(), *field.ok_or_else(|| format!("no field for {}", member.name))?));
    }
    let bits = ours.members.len() > pairs.len();
    let known =
        |f: &&str| pairs.iter().any(|p| p.1 == *f) || *f == "_marker" || f.starts_with("__bindgen_padding");
    match fields.iter().find(|f| !known(f) && !bits) {
        Some(field) => Err(format!("field {field} has no member")),
        None => Ok(pairs),
    }
}
