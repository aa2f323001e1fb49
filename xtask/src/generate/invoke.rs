//! `replay/src/generated/mod.rs`: one call site for each C calling shape.
//!
//! A command's arguments lie in 64-bit slots; each call site takes them apart as its shape says and calls through a
//! function pointer of exactly that type, so that nothing depends on how an ABI passes a wider integer.
//! Guarantees: the same shapes give the same bytes, in the order of the schema's `SHAPES`.

use super::emit::{File, header};
use super::model::Tables;
use std::fmt::Write;

/// The one file.
pub fn files(tables: &Tables) -> Vec<File> {
    let mut out = header(tables, "One call site for each C calling shape of the API.");
    out.push_str(
        "use std::mem::transmute;\n\n/// A pointer to a command, of whatever shape.\n\
         pub type Command = unsafe extern \"system\" fn();\n\n\
         /// Calls `f`, whose shape is `SHAPES[shape]`, with one 64-bit slot an argument; the return value likewise.\n///\n\
         /// # Safety\n\
         /// `f` is a command of that shape and `a` holds at least as many slots as it has parameters, each valid for it.\n\
         #[allow(unsafe_code)]\n\
         pub unsafe fn invoke(shape: u16, f: Command, a: &[u64]) -> u64 {\n    \
         // SAFETY: the caller vouches for the shape and for the arguments.\n    unsafe {\n        match shape {\n",
    );
    for (i, (params, ret)) in tables.shapes.iter().enumerate() {
        let types: Vec<_> = params.iter().map(|p| rust(p)).collect();
        let args: Vec<_> = params.iter().enumerate().map(|(k, p)| argument(p, k)).collect();
        let arrow = ret.map_or(String::new(), |r| format!(" -> {}", rust(r)));
        let call = format!(
            "transmute::<Command, unsafe extern \"system\" fn({}){arrow}>(f)({})",
            types.join(", "),
            args.join(", ")
        );
        let value = match *ret {
            None => format!("{{ {call}; 0 }}"),
            Some("I8") => call,
            Some("F4") => format!("u64::from({call}.to_bits())"),
            Some(_) => format!("u64::from({call})"),
        };
        let _ = writeln!(out, "            {i} => {value},");
    }
    out.push_str(
        "            _ => unreachable!(\"the schema and this file are generated together\"),\n        }\n    }\n}\n",
    );
    vec![("mod.rs", out)]
}

fn rust(class: &str) -> &'static str {
    match class {
        "I4" => "u32",
        "I2" => "u16",
        "F4" => "f32",
        _ => "u64",
    }
}

fn argument(class: &str, slot: usize) -> String {
    match class {
        "F4" => format!("f32::from_bits(a[{slot}] as u32)"),
        "I8" => format!("a[{slot}]"),
        narrow => format!("a[{slot}] as {}", rust(narrow)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_taken_apart_by_class() {
        let tables = Tables {
            version: "0".into(),
            shapes: vec![(vec!["I8", "F4", "I2"], None), (vec!["I4"], Some("I4"))],
            ..Tables::default()
        };
        let text = &files(&tables)[0].1;
        assert!(
            text.contains("fn(u64, f32, u16)>(f)(a[0], f32::from_bits(a[1] as u32), a[2] as u16); 0 }"),
            "{text}"
        );
        assert!(text.contains(
            "1 => u64::from(transmute::<Command, unsafe extern \"system\" fn(u32) -> u32>(f)(a[0] as u32))"
        ));
    }
}
