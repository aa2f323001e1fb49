//! Calls edited as JSON: values that somebody has changed in what was printed of a call go back into the call.
//!
//! A value is found by what it prints as: it is the one that, changed, makes the print say what is wanted. Of those that hold the same, halves are
//! tried, so that a call is printed a few times for each edit. Guarantees: printed again, the call says
//! what was wanted wherever it was edited, and its other bytes are as they were. Where several readings of the same bytes are printed (clear
//! values), the others follow. Refuses members and elements that are added or taken away, texts, and what says which struct or which member of a union
//! comes (`sType`, `geometryType`).

use crate::ahead::Call;
use crate::error::Error;
use crate::image::{Image, Ptr};
use crate::print::{Counts, Form, Options, Printer};
use crate::schema::generated::ENUMS;
use crate::schema::{Member, Special, StructDef, Ty};
use crate::walk::{Pointee, Visitor, walk_call};
use serde_json::Value;

/// Parts of a printed call that can be edited.
const PARTS: [&str; 2] = ["args", "return"];
/// What has to stay as it was printed.
const SAME: [&str; 2] = ["name", "thread"];

/// Values of a call that can be edited at once.
const MOST: usize = 1000;

/// Edits calls; keeps its memory between them.
#[derive(Debug)]
pub struct Editor {
    printer: Printer,
    line: Vec<u8>,
}

/// A value that is to be another one.
struct Change {
    /// Where it is printed, as a JSON pointer.
    path: String,
    was: Value,
    wanted: Value,
}

/// A value that may be the one: what it holds, and what it would hold.
struct Place {
    ty: Ty,
    at: u32,
    old: u64,
    new: u64,
}

impl Default for Editor {
    fn default() -> Self {
        Editor { printer: Printer::new(Form::Json, Options::default()), line: vec![] }
    }
}

impl Editor {
    /// Makes of a call what `wanted` says, the object `function` of a printed line; how many values it has changed.
    pub fn edit(&mut self, call: &mut Call, wanted: &Value) -> Result<u64, Error> {
        let own = self.printed(call)?;
        for key in SAME {
            if own[key] != wanted[key] {
                return Err(refused(&format!("/{key}"), "only arguments and results can be others"));
            }
        }
        let mut changes = vec![];
        for part in PARTS {
            differences(&own[part], &wanted[part], &format!("/{part}"), &mut changes)?;
        }
        if changes.is_empty() {
            return Ok(0);
        }
        // (each prints the call some times)
        if changes.len() > MOST {
            let why = format!("{} values of one call are others; {MOST} can be", changes.len());
            return Err(refused("it", &why));
        }
        let mut places = Places::default();
        walk_call(&call.image, &mut places);
        let mut done = vec![];
        for change in &changes {
            done.extend(self.change(call, &places, change)?.map(|ty| (change, ty)));
        }
        // (two readings of the same bytes may have been edited)
        let now = self.printed(call)?;
        for (c, ty) in &done {
            if now.pointer(&c.path).and_then(|v| bits(*ty, v)) != bits(*ty, &c.wanted) {
                return Err(refused(&c.path, "another edit of the same call contradicts it"));
            }
        }
        Ok(done.len() as u64)
    }

    /// Writes one value to where it is printed from; its type, or none where it is there already.
    fn change(&mut self, call: &mut Call, places: &Places, change: &Change) -> Result<Option<Ty>, Error> {
        let Change { path, was, wanted } = change;
        // (another reading of the same bytes may have been edited alike)
        if self.printed(call)?.pointer(path).is_some_and(|now| equal(now, wanted)) {
            return Ok(None);
        }
        for all in [&places.values, &places.floats, &places.signed] {
            let holds = |&(ty, at): &(Ty, u32)| {
                let (old, new) = (bits(ty, was)?, bits(ty, wanted)?);
                (read(&call.image, ty, at) == old).then_some(Place { ty, at, old, new })
            };
            let (same, of): (Vec<Place>, Vec<Place>) =
                all.iter().filter_map(holds).partition(|p| p.old == p.new);
            // (the same value, written another way)
            if of.is_empty() && !same.is_empty() {
                return Ok(None);
            }
            let mut some = &of[..];
            while some.len() > 1 {
                let (half, others) = some.split_at(some.len() / 2);
                some = if self.says(call, half, path)? { half } else { others };
            }
            if let [one] = some
                && self.says(call, some, path)?
            {
                write(&mut call.image, one.ty, one.at, one.new);
                return Ok(Some(one.ty));
            }
        }
        Err(refused(path, "expected another value of its kind and range"))
    }

    /// Whether the print says what is wanted if these places have it.
    fn says(&mut self, call: &mut Call, some: &[Place], path: &str) -> Result<bool, Error> {
        some.iter().for_each(|p| write(&mut call.image, p.ty, p.at, p.new));
        let now = self.printed(call);
        some.iter().rev().for_each(|p| write(&mut call.image, p.ty, p.at, p.old));
        let now = now?;
        let said = now.pointer(path);
        Ok(some.iter().any(|p| said.and_then(|v| bits(p.ty, v)) == Some(p.new)))
    }

    fn printed(&mut self, call: &mut Call) -> Result<Value, Error> {
        self.printer.call(call);
        self.line.clear();
        self.printer.drain_into(&mut Counts::default(), &mut self.line);
        let mut line: Value =
            serde_json::from_slice(&self.line).map_err(|e| Error::malformed(e.to_string()))?;
        Ok(line["function"].take())
    }
}

fn refused(path: &str, why: &str) -> Error {
    Error::malformed(format!("{path} cannot be edited so: {why}"))
}

/// Whether two values are the same, whatever a float is written like.
fn equal(a: &Value, b: &Value) -> bool {
    let float = |v: &Value| v.as_f64().map(f64::to_bits);
    if a.is_f64() { float(a) == float(b) } else { a == b }
}

/// Single values that differ; trees that have other branches are refused.
fn differences(own: &Value, wanted: &Value, path: &str, to: &mut Vec<Change>) -> Result<(), Error> {
    match (own, wanted) {
        (Value::Object(a), Value::Object(b)) => {
            if let Some(key) = b.keys().find(|k| !a.contains_key(*k)) {
                return Err(refused(&format!("{path}/{key}"), "there is no such member"));
            }
            for (key, value) in a {
                let path = format!("{path}/{key}");
                let Some(wanted) = b.get(key) else { return Err(refused(&path, "the member is missing")) };
                differences(value, wanted, &path, to)?;
            }
            Ok(())
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let all = a.iter().zip(b).enumerate();
            all.into_iter().try_for_each(|(i, (a, b))| differences(a, b, &format!("{path}/{i}"), to))
        }
        (Value::Array(a), Value::Array(b)) => {
            Err(refused(path, &format!("expected {} elements, found {}", a.len(), b.len())))
        }
        (a, b) if equal(a, b) => Ok(()),
        (Value::Object(_) | Value::Array(_) | Value::Null, _)
        | (_, Value::Object(_) | Value::Array(_) | Value::Null) => {
            Err(refused(path, "expected a value of the same kind"))
        }
        (was, wanted) => {
            to.push(Change { path: path.to_owned(), was: was.clone(), wanted: wanted.clone() });
            Ok(())
        }
    }
}

/// A whole number, as it is or in hexadecimal.
fn number(v: &Value) -> Option<u64> {
    match v.as_str() {
        Some(text) => u64::from_str_radix(text.strip_prefix("0x")?, 16).ok(),
        None => v.as_u64(),
    }
}

/// The bits of a value of this type; none where it can be none, or does not fit.
fn bits(ty: Ty, v: &Value) -> Option<u64> {
    let of_enum = |id: u16, text: &str| {
        let found = ENUMS[usize::from(id)].values.iter().find(|e| e.1 == text);
        found.map(|e| e.0.cast_unsigned())
    };
    let bits = match (ty, v) {
        (Ty::Struct(_), _) => return None,
        (Ty::F32, _) => u64::from((v.as_f64()? as f32).to_bits()),
        (Ty::F64, _) => v.as_f64()?.to_bits(),
        (Ty::Bool32, Value::Bool(b)) => u64::from(*b),
        (Ty::Enum(id), Value::String(text)) if !text.starts_with("0x") => of_enum(id, text)? & 0xFFFF_FFFF,
        // (enumerants are printed as words)
        (Ty::Enum(_), Value::Number(_)) => return None,
        (Ty::Flags(id) | Ty::Flags64(id), Value::String(text)) => {
            text.split('|').try_fold(0, |all, name| {
                let name = name.trim();
                Some(all | number(&Value::from(name)).or_else(|| of_enum(id, name))?)
            })?
        }
        (Ty::I8 | Ty::I16 | Ty::I32 | Ty::I64, _) => {
            let (value, unused) = (v.as_i64()?, 64 - width(ty));
            // (it fits if its upper bits say nothing but its sign)
            return (value << unused >> unused == value).then_some(value.cast_unsigned() << unused >> unused);
        }
        _ => number(v)?,
    };
    (bits & u64::MAX >> (64 - width(ty)) == bits).then_some(bits)
}

/// Bits of a value.
fn width(ty: Ty) -> u32 {
    match ty {
        Ty::Bits { width, .. } => u32::from(width),
        _ => 8 * ty.c_layout().0 as u32,
    }
}

fn read(image: &Image, ty: Ty, at: u32) -> u64 {
    match (ty, ty.c_layout().0) {
        (Ty::Bits { shift, width }, _) => {
            u64::from(image.u32(at) >> shift) & (u64::MAX >> (64 - u32::from(width)))
        }
        (_, 1) => image.u8(at).into(),
        (_, 2) => image.u16(at).into(),
        (_, 4) => image.u32(at).into(),
        _ => image.u64(at),
    }
}

fn write(image: &mut Image, ty: Ty, at: u32, bits: u64) {
    let size = ty.c_layout().0 as u32;
    if size == 8 {
        return image.edit_u64(at, bits);
    }
    // (what is smaller than a word is a part of one)
    let (word, wide) = (at & !3, width(ty));
    let shift = match ty {
        Ty::Bits { shift, .. } => u32::from(shift),
        _ => 8 * (at & 3),
    };
    let mask = (u32::MAX >> (32 - wide)) << shift;
    image.edit_u32(word, image.u32(word) & !mask | (bits as u32) << shift & mask);
}

/// Types and places of all values, in the order in which they are printed.
#[derive(Default)]
struct Places {
    values: Vec<(Ty, u32)>,
    /// Other readings of some of them: as floats, as signed numbers.
    floats: Vec<(Ty, u32)>,
    signed: Vec<(Ty, u32)>,
    within: Vec<&'static StructDef>,
    member: &'static str,
}

impl Places {
    fn special(&self) -> Special {
        self.within.last().map_or(Special::None, |def| def.special)
    }

    /// The value says how what comes is read.
    fn steers(&self, ty: Ty) -> bool {
        let reads = [
            Special::AccelerationStructureGeometry,
            Special::MotionInstance,
            Special::PerformanceValue,
            Special::DescriptorGetInfo,
            Special::IndirectExecutionSetCreateInfo,
            Special::IndirectCommandsLayoutToken,
            Special::LayerSetting,
        ];
        matches!(ty, Ty::Enum(_)) && (self.member == "sType" || reads.contains(&self.special()))
    }
}

impl Visitor for Places {
    fn value(&mut self, _: &Image, ty: Ty, at: u32) {
        if self.steers(ty) {
            return;
        }
        self.values.push((ty, at));
        let (float, signed) = match self.special() {
            Special::ClearValue | Special::PerformanceValue => (Ty::F32, Ty::I32),
            Special::Union64 => (Ty::F64, Ty::I64),
            _ => return,
        };
        self.floats.push((float, at));
        self.signed.push((signed, at));
    }
    fn pointer(&mut self, _: &Image, _: &Ptr, _: Pointee) {}
    fn text(&mut self, _: &Image, _: u32, _: u64, _: u32) {}
    fn begin_struct(&mut self, _: &Image, def: &'static StructDef, _: u32) {
        self.within.push(def);
    }
    fn end_struct(&mut self, _: &'static StructDef) {
        self.within.pop();
    }
    fn member(&mut self, m: &'static Member) {
        self.member = m.name;
    }
    fn template_part(&mut self, _: usize, _: u64) {
        self.member = "";
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::Capture;

    fn draw() -> Call {
        let call = Call::written("vkCmdDraw", |w| {
            w.u64(7);
            for n in [36, 1, 0, 0] {
                _ = w.u32(n);
            }
        });
        call.expect("a call")
    }

    #[test]
    fn a_changed_value_goes_back() {
        let (mut editor, mut call) = (Editor::default(), draw());
        let mut wanted = editor.printed(&mut call).expect("printed");
        assert_eq!(editor.edit(&mut call, &wanted).expect("nothing to do"), 0);
        // (firstVertex and firstInstance are both 0)
        wanted["args"]["firstInstance"] = 5.into();
        wanted["args"]["vertexCount"] = 3.into();
        assert_eq!(editor.edit(&mut call, &wanted).expect("edited"), 2);
        let words: Vec<u32> = (0..4).map(|i| call.image.u32(8 + 8 * i)).collect();
        assert_eq!(words, [3, 1, 0, 5]);
        let now = editor.printed(&mut call).expect("printed");
        assert_eq!(now["args"], wanted["args"]);
    }

    #[test]
    fn what_cannot_go_back_is_refused_and_says_where() {
        let (mut editor, mut call) = (Editor::default(), draw());
        let own = editor.printed(&mut call).expect("printed");
        for (key, value, says) in [
            ("vertexCount", Value::from("many"), "/args/vertexCount cannot be edited so: expected a"),
            ("vertexCount", Value::from(1_u64 << 40), "/args/vertexCount cannot be edited so: expected a"),
            ("vertexCount", Value::Null, "/args/vertexCount cannot be edited so: expected a"),
            ("more", Value::from(1), "/args/more cannot be edited so: there is no such member"),
        ] {
            let mut wanted = own.clone();
            wanted["args"][key] = value;
            let e = editor.edit(&mut call, &wanted).expect_err("refused").to_string();
            assert!(e.contains(says), "{e}");
        }
        for (key, value) in [("name", Value::from("vkCmdDispatch")), ("thread", Value::from(9))] {
            let mut other = own.clone();
            other[key] = value;
            assert!(editor.edit(&mut call, &other).is_err(), "{key}");
        }
    }

    #[test]
    fn readings_of_the_same_bytes_follow_each_other() {
        let bytes = std::fs::read("../captures/samples/cubes.gfxr").expect("a sample");
        let capture = Capture::new(bytes).expect("a capture");
        let found = crate::ahead::run(&capture, |item| match &item.what {
            crate::ahead::What::Call(call) if call.command.name == "vkCmdBeginRenderPass" => {
                std::ops::ControlFlow::Break((**call).clone())
            }
            _ => std::ops::ControlFlow::Continue(()),
        });
        let (mut editor, mut call) = (Editor::default(), found.expect("a render pass begins"));
        let own = editor.printed(&mut call).expect("printed");
        let place = "/args/pRenderPassBegin/pClearValues/0/color";
        let edited = |of: &str, value: Value| {
            let mut wanted = own.clone();
            *wanted.pointer_mut(&format!("{place}/{of}")).expect("it is printed") = value;
            wanted
        };
        let mut again = call.clone();
        assert_eq!(editor.edit(&mut again, &edited("float32/1", 0.5.into())).expect("edited"), 1);
        let now = editor.printed(&mut again).expect("printed");
        let of = |path: &str| now.pointer(&format!("{place}/{path}")).and_then(Value::as_u64);
        assert_eq!(of("uint32/1"), Some(0.5_f32.to_bits().into()));
        assert_eq!(of("uint32/0"), own.pointer(&format!("{place}/uint32/0")).and_then(Value::as_u64));
        assert_eq!(editor.edit(&mut call.clone(), &edited("uint32/2", 7.into())).expect("edited"), 1);
        let mut again = call.clone();
        assert_eq!(editor.edit(&mut again, &edited("int32/2", (-1).into())).expect("edited"), 1);
        let now = editor.printed(&mut again).expect("printed");
        let of = now.pointer(&format!("{place}/uint32/2")).and_then(Value::as_u64);
        assert_eq!(of, Some(u32::MAX.into()));
        // What says how the rest is read stays.
        let mut other = own.clone();
        other["args"]["pRenderPassBegin"]["sType"] = "VK_STRUCTURE_TYPE_SUBMIT_INFO".into();
        let e = editor.edit(&mut call, &other).expect_err("refused").to_string();
        assert!(e.contains("/args/pRenderPassBegin/sType cannot be edited so"), "{e}");
    }

    /// Every whole number among the arguments of a real capture's calls can be edited.
    #[test]
    fn values_of_a_real_capture_can_be_edited() {
        let bytes = std::fs::read("../captures/samples/triangle_1.gfxr").expect("a sample");
        let capture = Capture::new(bytes).expect("a capture");
        let (mut editor, mut edited, mut refused) = (Editor::default(), 0, std::collections::BTreeMap::new());
        crate::ahead::run::<()>(&capture, |item| {
            if let crate::ahead::What::Call(call) = &item.what {
                let mut call = (**call).clone();
                let own = editor.printed(&mut call).expect("printed");
                for path in numbers(&own) {
                    let mut wanted = own.clone();
                    let old = own.pointer(&path).expect("it is there");
                    let new = if *old == 1 { Value::from(2) } else { Value::from(1) };
                    if let Some(v) = wanted.pointer_mut(&path) {
                        *v = new;
                    }
                    match editor.edit(&mut call.clone(), &wanted) {
                        Ok(_) => edited += 1,
                        Err(_) => {
                            _ = refused
                                .insert(path.split('/').next_back().unwrap_or_default().to_owned(), path)
                        }
                    }
                }
            }
            std::ops::ControlFlow::Continue(())
        });
        assert!(edited > 1000, "{edited}");
        assert_eq!(refused.into_values().collect::<Vec<_>>(), Vec::<String>::new());
    }

    /// JSON pointers of all whole numbers among the arguments.
    fn numbers(of: &Value) -> Vec<String> {
        fn all(v: &Value, path: &str, to: &mut Vec<String>) {
            match v {
                Value::Object(o) => o.iter().for_each(|(k, v)| all(v, &format!("{path}/{k}"), to)),
                Value::Array(a) => a.iter().enumerate().for_each(|(i, v)| all(v, &format!("{path}/{i}"), to)),
                Value::Number(n) if n.is_u64() => to.push(path.to_owned()),
                _ => {}
            }
        }
        let mut paths = vec![];
        all(&of["args"], "/args", &mut paths);
        paths
    }
}
