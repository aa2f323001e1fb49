//! The little of SPIR-V that an index needs: version, generator, entry points, names of source files.
//!
//! Guarantees: reads any bytes without failing further than "this is not SPIR-V". Knows either byte order. Refuses
//! nothing else: instructions it does not know are stepped over, and reading ends with the first function.

use serde::Serialize;

const MAGIC: u32 = 0x0723_0203;
const OP_STRING: u32 = 7;
const OP_ENTRY_POINT: u32 = 15;
const OP_FUNCTION: u32 = 54;

/// What a module says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Module {
    /// `1.5`.
    pub version: String,
    /// The generator's registered number.
    pub generator: u32,
    /// Its entry points.
    pub entry_points: Vec<EntryPoint>,
    /// Names in it that debuggers know sources by.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub strings: Vec<String>,
}

/// An entry point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EntryPoint {
    /// Its name.
    pub name: String,
    /// Its execution model, in lower case with underscores.
    pub stage: String,
}

/// Reads a module; none if it is not SPIR-V.
pub fn read(code: &[u8]) -> Option<Module> {
    let first = u32::from_le_bytes(*code.first_chunk()?);
    let swapped = match first {
        MAGIC => false,
        m if m.swap_bytes() == MAGIC => true,
        _ => return None,
    };
    let word = |c: &[u8]| u32::from_le_bytes([c[0], c[1], c[2], c[3]]);
    let words: Vec<u32> =
        code.chunks_exact(4).map(word).map(|w| if swapped { w.swap_bytes() } else { w }).collect();
    let mut module = Module {
        version: format!("{}.{}", words.get(1)? >> 16 & 0xFF, words.get(1)? >> 8 & 0xFF),
        generator: words.get(2)? >> 16,
        ..Module::default()
    };
    let mut at = 5;
    while let Some(&head) = words.get(at) {
        let (length, op) = ((head >> 16) as usize, head & 0xFFFF);
        let Some(operands) = words.get(at + 1..at + length) else { break };
        match op {
            OP_ENTRY_POINT if operands.len() > 2 => {
                let (name, stage) = (text(&operands[2..]), model(operands[0]));
                module.entry_points.push(EntryPoint { name, stage });
            }
            OP_STRING if operands.len() > 1 => module.strings.push(text(&operands[1..])),
            OP_FUNCTION => break,
            _ => {}
        }
        at += length.max(1);
    }
    // Sources can be embedded as strings, too; names are short and on one line.
    module.strings.retain(|s| s.len() < 256 && !s.contains('\n') && !s.is_empty());
    Some(module)
}

/// A literal string: little-endian in its words, ended by a NUL.
fn text(words: &[u32]) -> String {
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).take_while(|&b| b != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The name of an execution model.
fn model(v: u32) -> String {
    let name = match v {
        0 => "vertex",
        1 => "tessellation_control",
        2 => "tessellation_evaluation",
        3 => "geometry",
        4 => "fragment",
        5 => "compute",
        6 => "kernel",
        5267 => "task_nv",
        5268 => "mesh_nv",
        5313 => "ray_generation",
        5314 => "intersection",
        5315 => "any_hit",
        5316 => "closest_hit",
        5317 => "miss",
        5318 => "callable",
        5364 => "task",
        5365 => "mesh",
        _ => return format!("model_{v}"),
    };
    name.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A module with one entry point, `OpEntryPoint Fragment %4 "main"`.
    fn module() -> Vec<u32> {
        let name = u32::from_le_bytes(*b"main");
        vec![MAGIC, 0x0001_0500, 8 << 16, 10, 0, 2 << 16 | 17, 1, 5 << 16 | OP_ENTRY_POINT, 4, 4, name, 0]
    }

    #[test]
    fn entry_points_in_either_byte_order() {
        let little: Vec<u8> = module().iter().flat_map(|w| w.to_le_bytes()).collect();
        let big: Vec<u8> = module().iter().flat_map(|w| w.to_be_bytes()).collect();
        for code in [little, big] {
            let m = read(&code).unwrap();
            assert_eq!((m.version.as_str(), m.generator), ("1.5", 8));
            let main = EntryPoint { name: "main".to_string(), stage: "fragment".to_string() };
            assert_eq!(m.entry_points, [main]);
        }
    }

    #[test]
    fn anything_can_be_read() {
        let code: Vec<u8> = module().iter().flat_map(|w| w.to_le_bytes()).collect();
        for n in 0..code.len() {
            read(&code[..n]);
        }
        assert_eq!(read(b"no SPIR-V at all"), None);
        let endless = [MAGIC, 0, 0, 0, 0, 0, 0];
        read(&endless.iter().flat_map(|w: &u32| w.to_le_bytes()).collect::<Vec<_>>()).unwrap();
    }
}
