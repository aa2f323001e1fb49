//! The generator on registries of a few lines: what it makes of a form, and how it refuses what it does not know.

use super::error::Result;
use super::model::{Len, Shape, Struct, Tables, Ty};
use super::{call_ids, registry::Registry, tables};

/// Builds structs from member declarations, the overlay's own checks left out.
fn structs(types: &str) -> Result<Vec<Struct>> {
    let text = format!(
        "<registry><types>{types}</types>
         <enums name=\"API Constants\" type=\"constants\"><enum name=\"N\" value=\"3\"/></enums></registry>"
    );
    let mut registry = Registry::default();
    registry.add(&text, "test.xml")?;
    tables::structs(&registry)
}

fn one(members: &str) -> Result<Struct> {
    structs(&format!("<type category=\"struct\" name=\"S\">{members}</type>")).map(|mut s| s.remove(0))
}

fn refusal(members: &str) -> String {
    one(members).expect_err("it is to be refused")
}

#[test]
fn bit_fields_share_a_unit_until_it_is_full() {
    let s = one("<member><type>uint8_t</type> <name>a</name>[<enum>N</enum>]</member>
         <member><type>float</type> <name>b</name></member>
         <member><type>uint32_t</type> <name>c</name>:24</member>
         <member><type>uint32_t</type> <name>d</name>:8</member>
         <member><type>uint32_t</type> <name>e</name>:1</member>
         <member><type>uint64_t</type> <name>f</name></member>")
    .unwrap();
    let members: Vec<(u32, Ty, Shape)> = s.members.iter().map(|m| (m.at, m.ty, m.shape)).collect();
    assert_eq!((s.size, s.align), (24, 8));
    assert_eq!(members[0], (0, Ty::U8, Shape::Fixed(3)));
    assert_eq!(members[1].0, 4);
    assert_eq!(members[2].1, Ty::Bits { shift: 0, width: 24 });
    assert_eq!(members[3], (8, Ty::Bits { shift: 24, width: 8 }, Shape::Value));
    assert_eq!(members[4], (12, Ty::Bits { shift: 0, width: 1 }, Shape::Value));
    assert_eq!(members[5].0, 16);
}

#[test]
fn pointers_are_held_as_their_length_says() {
    let s = one("<member><type>uint32_t</type> <name>n</name></member>
         <member len=\"n\">const <type>void</type>* <name>blob</name></member>
         <member><type>void</type>* <name>user</name></member>
         <member len=\"null-terminated\">const <type>char</type>* <name>text</name></member>
         <member len=\"n,null-terminated\">const <type>char</type>* const* <name>texts</name></member>
         <member len=\"latexmath:[x]\" altlen=\"(n + 31) / 32\">const <type>uint32_t</type>* <name>mask</name></member>
         <member><type>uint64_t</type>* <name>result</name></member>
         <member len=\"n,1\">const <type>float</type>* const* <name>rows</name></member>")
    .unwrap();
    let held: Vec<(Ty, Shape, Len, bool)> = s.members.iter().map(|m| (m.ty, m.shape, m.len, m.out)).collect();
    assert_eq!(held[1], (Ty::U8, Shape::Array, Len::Member(0), false));
    assert_eq!(held[2], (Ty::Opaque, Shape::Value, Len::None, false));
    assert_eq!(held[3], (Ty::Char, Shape::Str, Len::None, false));
    assert_eq!(held[4], (Ty::Char, Shape::StrArray, Len::Member(0), false));
    assert_eq!(held[5], (Ty::U32, Shape::Array, Len::MemberDiv(0, 32), false));
    assert_eq!(held[6], (Ty::U64, Shape::Ptr, Len::None, true));
    assert_eq!(held[7], (Ty::F32, Shape::Array2, Len::Member(0), false));
}

#[test]
fn other_apis_members_are_dropped() {
    let s = one("<member api=\"vulkansc\"><type>uint64_t</type> <name>a</name></member>
         <member api=\"vulkan,vulkanbase\"><type>uint32_t</type> <name>a</name></member>")
    .unwrap();
    assert_eq!((s.members.len(), s.size), (1, 4));
}

#[test]
fn refusals_name_the_type_and_the_member() {
    let unknown = refusal("<member><type>VkNothing</type> <name>a</name></member>");
    assert_eq!(unknown, "S.a: unknown type `VkNothing`");
    let declarator = refusal("<member><type>float</type>*** <name>a</name></member>");
    assert_eq!(declarator, "test.xml: S.a: unknown declarator `***`");
    let length = refusal("<member len=\"m\">const <type>float</type>* <name>a</name></member>");
    assert_eq!(length, "S.a: unknown length `m`");
    let dimension = refusal("<member><type>float</type> <name>a</name>[<enum>M</enum>]</member>");
    assert_eq!(dimension, "S.a: unknown dimension `M`");
    let bits = refusal(
        "<member><type>uint16_t</type> <name>a</name></member>
         <member><type>uint32_t</type> <name>b</name>:1</member>",
    );
    assert_eq!(bits, "S.b: a bit-field behind a smaller member");
    let inside = refusal("<member><type>S</type> <name>a</name></member>");
    assert_eq!(inside, "S: contains itself");
    let union = structs(
        "<type category=\"union\" name=\"U\"><member><type>float</type> <name>a</name></member></type>",
    );
    assert_eq!(union.unwrap_err(), "U: a union the overlay says nothing about");
}

#[test]
fn call_ids_appear_once() {
    assert_eq!(call_ids("# id\tname\n0x1000\tvkA\n").unwrap(), [(0x1000, "vkA".to_owned())]);
    assert_eq!(call_ids("0x1000\tvkA\n0x1000\tvkB\n").unwrap_err(), "call ids: `0x1000\tvkB` appears twice");
    assert_eq!(call_ids("vkA").unwrap_err(), "call ids: cannot read `vkA`");
    let unknown =
        tables::build(&Registry::default(), &[(0x1000, "vkA".to_owned())]).map(|t: Tables| t.version);
    assert_eq!(unknown.unwrap_err(), "vkA: neither in the registry nor in the overlay");
}
