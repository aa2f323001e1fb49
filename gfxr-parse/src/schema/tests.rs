//! The tables against themselves, against ash's layouts, and against a few facts known by heart.

use super::generated::{COMMANDS, COMMANDS_BY_NAME, ENUMS, HANDLES, SHAPES, STRUCTS, STYPES, UNDECODABLE};
use super::*;
use std::collections::{BTreeMap, BTreeSet};

/// gfxreconstruct's ids, alias spellings counted.
const CALL_IDS: usize = 791;

fn sorted<T: Ord>(items: impl IntoIterator<Item = T>) -> bool {
    let items: Vec<T> = items.into_iter().collect();
    items.windows(2).all(|w| w[0] < w[1])
}

/// Bytes a member takes in its struct.
fn slot(m: &Member) -> (usize, usize) {
    let (size, align) = m.ty.c_layout();
    match m.shape {
        Shape::Value => (size, align),
        Shape::Fixed(n) | Shape::FixedStr(n) => (size * n as usize, align),
        Shape::Fixed2(n, k) => (size * n as usize * k as usize, align),
        _ => (8, 8),
    }
}

fn all_members() -> impl Iterator<Item = (&'static str, &'static [Member], &'static Member)> {
    let structs = STRUCTS.iter().map(|s| (s.name, s.members));
    let commands = COMMANDS.iter().map(|c| (c.name, c.params));
    structs.chain(commands).flat_map(|(name, members)| members.iter().map(move |m| (name, members, m)))
}

#[test]
fn tables_are_sorted() {
    assert!(sorted(COMMANDS.iter().map(|c| c.id)));
    assert!(sorted(COMMANDS_BY_NAME.iter().map(|&i| COMMANDS[i as usize].name)));
    assert!(sorted(UNDECODABLE.iter().map(|u| u.0)));
    assert!(sorted(STRUCTS.iter().map(|s| s.name)));
    assert!(sorted(STYPES.iter().map(|s| s.0)));
    assert!(sorted(HANDLES.iter().map(|h| h.name)));
    assert!(sorted(HANDLES.iter().filter(|h| h.object_type != 0).map(|h| h.name)));
    assert!(sorted(ENUMS.iter().map(|e| e.name)));
    for e in &ENUMS {
        assert!(sorted(e.values.iter().map(|v| v.0)), "{}", e.name);
    }
}

#[test]
fn every_call_id_is_accounted_for() {
    let ids: BTreeSet<u32> = COMMANDS.iter().map(|c| c.id).chain(UNDECODABLE.iter().map(|u| u.0)).collect();
    assert_eq!(ids.len(), CALL_IDS);
    assert_eq!(COMMANDS.len() + UNDECODABLE.len(), CALL_IDS);
    assert!(ids.iter().all(|id| id >> 16 == 1 && id & 0xffff >= 0x1000));
}

#[test]
fn indices_are_in_range() {
    for (owner, members, m) in all_members() {
        let path = format!("{owner}.{}", m.name);
        match m.ty {
            Ty::Struct(i) => assert!((i as usize) < STRUCTS.len(), "{path}"),
            Ty::Handle(i) => assert!((i as usize) < HANDLES.len(), "{path}"),
            Ty::Enum(i) => assert_eq!(ENUMS[i as usize].width, 32, "{path}"),
            Ty::Flags(i) => assert!(ENUMS[i as usize].bitmask && ENUMS[i as usize].width == 32, "{path}"),
            Ty::Flags64(i) => assert!(ENUMS[i as usize].bitmask && ENUMS[i as usize].width == 64, "{path}"),
            Ty::ObjectHandle(i) => assert!(matches!(members[i as usize].ty, Ty::Enum(_)), "{path}"),
            _ => {}
        }
        match m.len {
            Len::Member(i) | Len::MemberDiv(i, _) => {
                assert!(
                    !matches!(members[i as usize].ty, Ty::Struct(_) | Ty::Handle(_) | Ty::Opaque),
                    "{path}"
                );
            }
            Len::Field(p, f) => {
                let Ty::Struct(s) = members[p as usize].ty else { panic!("{path}") };
                assert!((f as usize) < STRUCTS[s as usize].members.len(), "{path}");
            }
            _ => {}
        }
    }
    for c in &COMMANDS {
        let shape = &SHAPES[c.abi as usize];
        assert_eq!(shape.params.len(), c.params.len(), "{}", c.name);
        assert_eq!(shape.ret.is_some(), c.ret.is_some(), "{}", c.name);
    }
    assert!(HANDLES.iter().filter_map(|h| h.parent).all(|p| (p as usize) < HANDLES.len()));
    assert!(STYPES.iter().all(|&(stype, s)| STRUCTS[s as usize].stype == Some(stype)));
    assert_eq!(STYPES.len(), STRUCTS.iter().filter(|s| s.stype.is_some()).count());
}

#[test]
fn shapes_and_types_agree() {
    for (owner, _, m) in all_members() {
        let path = format!("{owner}.{}", m.name);
        let text = matches!(m.shape, Shape::Str | Shape::StrArray | Shape::WStr | Shape::FixedStr(_));
        assert_eq!(text, m.ty == Ty::Char, "{path}");
        assert_eq!(m.name == "pNext", m.shape == Shape::PNext, "{path}");
        let followed = !matches!(m.shape, Shape::Value | Shape::Absent | Shape::TemplateData);
        let opaque = matches!(m.shape, Shape::PNext | Shape::PtrPtr);
        assert_eq!(opaque, followed && m.ty == Ty::Opaque, "{path}");
        assert!(!(m.out && m.shape == Shape::Value), "{path}");
    }
}

#[test]
fn offsets_are_those_of_c() {
    for s in &STRUCTS {
        let (mut end, mut align) = (0, 1);
        for m in s.members {
            let (size, its_align) = slot(m);
            let at = m.at as usize;
            assert_eq!(at % its_align, 0, "{}.{}", s.name, m.name);
            match m.ty {
                _ if s.union => assert_eq!(at, 0, "{}.{}", s.name, m.name),
                Ty::Bits { shift, width } => {
                    assert!(shift + width <= 32 && (at == end || at + 4 == end), "{}.{}", s.name, m.name);
                }
                _ => assert!(at >= end && at < end + its_align, "{}.{}", s.name, m.name),
            }
            end = if s.union { end.max(size) } else { at + size };
            align = align.max(its_align);
        }
        assert_eq!(s.size as usize, end.next_multiple_of(align), "{}", s.name);
        assert_eq!(s.align as usize, align, "{}", s.name);
    }
    for c in &COMMANDS {
        assert!(c.params.iter().enumerate().all(|(i, p)| p.at as usize == 8 * i), "{}", c.name);
    }
}

#[test]
fn layouts_are_those_of_ash() {
    let (mut structs, mut members) = (0, 0);
    for &(name, size, align, stype, offsets) in generated::layout_test::ASH.iter().copied().flatten() {
        structs += 1;
        let s = &STRUCTS[struct_named(name).unwrap() as usize];
        assert_eq!((s.size as usize, s.align as usize), (size, align), "{name}");
        assert_eq!(s.stype.map(|t| t as i32), stype, "{name}");
        for &(member, at) in offsets {
            let m = s.members.iter().find(|m| m.name == member).unwrap();
            assert_eq!(m.at as usize, at, "{name}.{member}");
            members += 1;
        }
    }
    assert!(structs > 1100 && members > 5900, "{structs} structs, {members} members");
}

#[test]
fn look_ups_find_what_is_there() {
    for c in &COMMANDS {
        assert_eq!(command(c.id).unwrap().name, c.name);
        assert_eq!(command_named(c.name).unwrap().id, c.id);
    }
    for (id, name, reason) in UNDECODABLE {
        assert!(command(id).is_none() && command_named(name).is_none() && !reason.is_empty());
    }
    for (i, s) in STRUCTS.iter().enumerate() {
        assert_eq!(struct_named(s.name), Some(i as StructId));
        assert!(s.stype.is_none_or(|t| struct_by_stype(t) == Some(i as StructId)));
    }
    assert_eq!(struct_by_stype(u32::MAX), None);
    assert!(HANDLES.iter().enumerate().all(|(i, h)| handle_named(h.name) == Some(i as HandleId)));
    assert_eq!((command_named(""), struct_named("VkNothing"), handle_named("")).0.map(|c| c.id), None);
}

#[test]
fn offsets_by_name_are_those_of_the_tables() {
    for s in &STRUCTS {
        assert_eq!(offsets::structure(s.name).name, s.name);
        for m in s.members {
            assert_eq!(offsets::member(s.name, m.name), m.at, "{}.{}", s.name, m.name);
        }
    }
    for c in &COMMANDS {
        for (i, p) in c.params.iter().enumerate() {
            assert_eq!(offsets::argument(c.name, p.name), i, "{}.{}", c.name, p.name);
        }
    }
}

#[test]
fn offsets_are_constants() {
    const MEMORY: u32 = crate::member!("VkMappedMemoryRange", "memory");
    const RANGE: u32 = crate::size_of_struct!("VkMappedMemoryRange");
    const FENCE: usize = crate::argument!("vkQueueSubmit", "fence");
    assert_eq!((MEMORY, RANGE, FENCE), (16, 40, 3));
    assert_eq!(crate::param!("vkQueueSubmit", "fence"), 24);
    assert_eq!(crate::param!("vkQueueSubmit2KHR", "pSubmits"), crate::param!("vkQueueSubmit2", "pSubmits"));
}

#[test]
fn special_structs_are_the_known_ones() {
    let mut by_special: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for s in STRUCTS.iter().filter(|s| s.special != Special::None) {
        by_special.entry(format!("{:?}", s.special)).or_default().push(s.name);
    }
    assert_eq!(by_special["WriteDescriptorSet"], ["VkWriteDescriptorSet"]);
    assert_eq!(by_special["HostImageCopy"], ["VkImageToMemoryCopy", "VkMemoryToImageCopy"]);
    assert_eq!(by_special.len(), 15);
    assert!(STRUCTS.iter().all(|s| !s.union || s.special != Special::None));
    let trailing: Vec<&str> = COMMANDS.iter().filter(|c| c.trailing).map(|c| c.name).collect();
    assert_eq!(trailing, ["vkCmdPushDescriptorSetWithTemplate2KHR", "vkCmdPushDescriptorSetWithTemplate2"]);
}

#[test]
fn facts_known_by_heart() {
    let create = command(0x0001_1000).unwrap();
    assert_eq!((create.name, create.dispatch), ("vkCreateInstance", Dispatch::Global));
    let khr = command_named("vkCmdDrawIndirectCountKHR").unwrap();
    assert_eq!((khr.canonical, khr.dispatch), ("vkCmdDrawIndirectCount", Dispatch::Device));
    let boundary = command_named("vkFrameBoundaryANDROID").unwrap();
    assert_eq!((boundary.params.len(), boundary.ret), (3, None));
    let allocate = command_named("vkAllocateDescriptorSets").unwrap();
    assert!(matches!(allocate.params[2].len, Len::Field(1, 3)) && allocate.params[2].out);
    let template = command_named("vkUpdateDescriptorSetWithTemplateKHR").unwrap();
    assert_eq!(template.params[3].shape, Shape::TemplateData);

    let result = ENUMS.iter().find(|e| e.name == "VkResult").unwrap();
    assert_eq!(result.values[result.values.len() - 1].0, 1_000_483_000);
    assert!(result.values.contains(&(-4, "VK_ERROR_DEVICE_LOST")));
    assert!(result.values.contains(&(-1_000_001_004, "VK_ERROR_OUT_OF_DATE_KHR")));

    let module = &STRUCTS[struct_named("VkShaderModuleCreateInfo").unwrap() as usize];
    let code = module.members.iter().find(|m| m.name == "pCode").unwrap();
    assert_eq!((code.ty, code.shape, code.len), (Ty::U32, Shape::Array, Len::MemberDiv(3, 4)));
    let instance = &STRUCTS[struct_named("VkAccelerationStructureInstanceKHR").unwrap() as usize];
    assert_eq!(instance.size, 64);
    assert_eq!(instance.members[2].ty, Ty::Bits { shift: 24, width: 8 });
}

#[test]
fn counts_stand_before_their_arrays() {
    // The decoder compares a count with its array as soon as it has read the array; it knows of the exception.
    let (mut counted, mut behind) = (0, vec![]);
    let structs = STRUCTS.iter().filter(|s| s.special == Special::None).map(|s| (s.name, s.members));
    for (name, members) in structs.chain(COMMANDS.iter().map(|c| (c.name, c.params))) {
        for (i, m) in members.iter().enumerate() {
            if !matches!(m.shape, Shape::Array | Shape::Array2 | Shape::StrArray) {
                continue;
            }
            if let Len::Member(count) | Len::MemberDiv(count, _) | Len::Field(count, _) = m.len {
                counted += 1;
                if usize::from(count) > i {
                    behind.push((name, members.len(), i));
                }
            }
        }
    }
    assert!(counted > 500, "{counted}");
    assert_eq!(behind, [("VkHostAddressRangeConstEXT", 2, 0), ("VkHostAddressRangeEXT", 2, 0)]);
}
