//! From the registry to the tables: ids first, then structs, enums, handles and commands.
//!
//! Guarantees: everything is sorted as the schema promises, and each call id is a command or is listed as undecodable
//! with a reason. Refuses what the registry and the overlay leave open.

use super::decl::Decl;
use super::error::Result;
use super::layout;
use super::looked_at;
use super::model::{Abi, Command, Enum, Handle, Member, Shape, Struct, Tables, Ty};
use super::overlay;
use super::registry::{RawType, Registry};
use super::resolve::{Ids, Resolver, Scope};
use std::collections::HashMap;

/// Builds all tables; `call_ids` are the low 16 bits and the command's name.
pub fn build(registry: &Registry, call_ids: &[(u32, String)]) -> Result<Tables> {
    let ids = ids(registry)?;
    let handles = names(registry, |t| matches!(t, RawType::Handle { .. }));
    let mut tables = Tables {
        version: registry.version.clone(),
        structs: structs(registry)?,
        enums: enum_names(registry).iter().map(|(name, flags)| enumeration(registry, name, flags)).collect(),
        handles: handles.iter().map(|n| handle(registry, &ids, n)).collect::<Result<_>>()?,
        ..Tables::default()
    };
    commands(&Resolver { registry, ids: &ids }, call_ids, &mut tables)?;
    looked_at::fill(&mut tables);
    check_overlay(&tables)?;
    Ok(tables)
}

/// All structs, resolved and laid out.
pub fn structs(registry: &Registry) -> Result<Vec<Struct>> {
    let ids = ids(registry)?;
    let resolver = Resolver { registry, ids: &ids };
    let names = names(registry, |t| matches!(t, RawType::Struct { .. }));
    let mut structs = names.iter().map(|name| structure(&resolver, name)).collect::<Result<Vec<_>>>()?;
    layout::lay_out(&mut structs)?;
    Ok(structs)
}

fn ids(registry: &Registry) -> Result<Ids> {
    Ok(Ids {
        structs: index(&names(registry, |t| matches!(t, RawType::Struct { .. })))?,
        enums: index(&enum_names(registry).into_iter().map(|e| e.0).collect::<Vec<_>>())?,
        handles: index(&names(registry, |t| matches!(t, RawType::Handle { .. })))?,
    })
}

fn names(registry: &Registry, wanted: fn(&RawType) -> bool) -> Vec<String> {
    registry.types.iter().filter(|t| wanted(t.1)).map(|t| t.0.clone()).collect()
}

fn index(names: &[String]) -> Result<HashMap<String, u16>> {
    let id = |i: usize| u16::try_from(i).map_err(|_| "more than 65536 types".to_owned());
    names.iter().enumerate().map(|(i, n)| Ok((n.clone(), id(i)?))).collect()
}

/// Enum names and, for masks, the mask's name, sorted; a mask without bits goes by its own name.
fn enum_names(registry: &Registry) -> Vec<(String, String)> {
    let mut names = std::collections::BTreeMap::new();
    for (name, raw) in &registry.types {
        match raw {
            RawType::Enum => {
                names.entry(name.clone()).or_insert_with(|| name.clone());
            }
            RawType::Bitmask { bits, .. } => {
                let bits = bits.as_deref().map_or(name.as_str(), |b| registry.canonical(b));
                names.insert(bits.to_owned(), name.clone());
            }
            _ => {}
        }
    }
    names.into_iter().collect()
}

fn enumeration(registry: &Registry, name: &str, flags: &str) -> Enum {
    let raw = registry.enums.get(name).cloned().unwrap_or_default();
    let mut values = raw.values;
    values.sort();
    let wide = raw.wide || matches!(registry.types.get(flags), Some(RawType::Bitmask { wide: true, .. }));
    let bitmask = raw.bitmask || matches!(registry.types.get(flags), Some(RawType::Bitmask { .. }));
    let dense = (0..).zip(&values).take_while(|(i, v)| *i == v.0).count() as u32;
    let mask = values.iter().fold(0, |mask, v| mask | v.0 as u64);
    let (name, flags_name) = (name.to_owned(), flags.to_owned());
    Enum { name, flags_name, wide, bitmask, values, dense, mask }
}

fn handle(registry: &Registry, ids: &Ids, name: &str) -> Result<Handle> {
    let Some(RawType::Handle { object_type, parent, dispatchable }) = registry.types.get(name) else {
        return Err(format!("{name}: no handle"));
    };
    let value = registry.enumerants.get(object_type).and_then(|&v| u32::try_from(v).ok());
    let parent = match parent {
        None => None,
        Some(p) => {
            Some(*ids.handles.get(registry.canonical(p)).ok_or(format!("{name}: unknown parent `{p}`"))?)
        }
    };
    Ok(Handle {
        name: name.to_owned(),
        object_type: value.ok_or(format!("{name}: unknown object type `{object_type}`"))?,
        parent,
        dispatchable: *dispatchable,
    })
}

fn structure(resolver: &Resolver, name: &str) -> Result<Struct> {
    let Some(RawType::Struct { union, members: raw }) = resolver.registry.types.get(name) else {
        return Err(format!("{name}: no struct"));
    };
    let scope = Scope { owner: name, siblings: raw, command: false };
    let members = raw.iter().map(|d| resolver.member(d, &scope)).collect::<Result<_>>()?;
    let special = overlay::SPECIALS.iter().find(|s| s.0 == name).map_or("None", |s| s.1);
    if *union && special == "None" {
        return Err(format!("{name}: a union the overlay says nothing about"));
    }
    Ok(Struct {
        name: name.to_owned(),
        size: 0,
        align: 0,
        stype: stype(resolver, name, raw)?,
        members,
        looked_at: Vec::new(),
        special,
        union: *union,
    })
}

fn stype(resolver: &Resolver, name: &str, members: &[Decl]) -> Result<Option<u32>> {
    let Some(value) = members.iter().find(|m| m.name == "sType").and_then(|m| m.values.as_deref()) else {
        return Ok(None);
    };
    let number = resolver.registry.enumerants.get(value).and_then(|&v| u32::try_from(v).ok());
    number.map(Some).ok_or_else(|| format!("{name}.sType: unknown value `{value}`"))
}

fn commands(resolver: &Resolver, call_ids: &[(u32, String)], tables: &mut Tables) -> Result<()> {
    for (low, name) in call_ids {
        let id = 1 << 16 | low;
        let mut canonical = name;
        while let Some(target) = resolver.registry.command_aliases.get(canonical) {
            canonical = target;
        }
        let reason = overlay::UNDECODABLE.iter().find(|u| u.0 == name).map(|u| u.1);
        match (resolver.registry.commands.get(canonical), reason) {
            (Some(_), None) => {
                let command = command(resolver, id, name, canonical, &mut tables.shapes)?;
                tables.commands.push(command);
            }
            (None, Some(reason)) => tables.undecodable.push((id, name.clone(), reason)),
            (Some(_), Some(_)) => return Err(format!("{name}: defined, yet undecodable in the overlay")),
            (None, None) => return Err(format!("{name}: neither in the registry nor in the overlay")),
        }
    }
    tables.commands.sort_by_key(|c| c.id);
    tables.undecodable.sort_by_key(|u| u.0);
    Ok(())
}

fn command(
    resolver: &Resolver,
    id: u32,
    name: &str,
    canonical: &str,
    shapes: &mut Vec<Abi>,
) -> Result<Command> {
    let raw = &resolver.registry.commands[canonical];
    let scope = Scope { owner: canonical, siblings: &raw.params, command: true };
    let mut params =
        raw.params.iter().map(|d| resolver.member(d, &scope)).collect::<Result<Vec<Member>>>()?;
    for (i, param) in params.iter_mut().enumerate() {
        param.at = 8 * i as u32;
    }
    let ret = resolver.returned(&raw.proto)?;
    let refuse = |what: &str| format!("{name}: {what} has no calling class");
    let classes =
        params.iter().map(|p| class_of(p).ok_or_else(|| refuse(&p.name))).collect::<Result<Vec<_>>>()?;
    let returned = ret.map(|ty| class(ty).ok_or_else(|| refuse("its return value"))).transpose()?;
    let shape = (classes, returned);
    let abi = shapes.iter().position(|s| *s == shape).unwrap_or_else(|| {
        shapes.push(shape);
        shapes.len() - 1
    });
    let dispatch = match raw.params.first().map(|p| (resolver.registry.canonical(&p.base), p.stars)) {
        Some(("VkInstance" | "VkPhysicalDevice", 0)) => "Instance",
        Some(("VkDevice" | "VkQueue" | "VkCommandBuffer", 0)) => "Device",
        _ => "Global",
    };
    Ok(Command {
        name: name.to_owned(),
        canonical: canonical.to_owned(),
        id,
        params,
        looked_at: Vec::new(),
        ret,
        abi: u16::try_from(abi).map_err(|_| "too many calling shapes")?,
        dispatch,
        trailing: overlay::TRAILING.contains(&canonical),
    })
}

fn class_of(param: &Member) -> Option<&'static str> {
    if param.shape == Shape::Value { class(param.ty) } else { Some("I8") }
}

fn class(ty: Ty) -> Option<&'static str> {
    match ty {
        Ty::U16 | Ty::I16 => Some("I2"),
        Ty::U32 | Ty::I32 | Ty::Bool32 | Ty::Enum(_) | Ty::Flags(_) => Some("I4"),
        Ty::F32 => Some("F4"),
        Ty::U64 | Ty::I64 | Ty::Size | Ty::DeviceSize | Ty::DeviceAddress | Ty::Opaque => Some("I8"),
        Ty::Flags64(_) | Ty::Handle(_) | Ty::ObjectHandle(_) => Some("I8"),
        Ty::U8 | Ty::I8 | Ty::F64 | Ty::Char | Ty::Struct(_) | Ty::Bits { .. } => None,
    }
}

/// Refuses overlay entries that match nothing.
fn check_overlay(tables: &Tables) -> Result<()> {
    for (name, _) in overlay::SPECIALS {
        if !tables.structs.iter().any(|s| s.name == *name) {
            return Err(format!("overlay: no struct `{name}`"));
        }
    }
    for (owner, member, _) in overlay::MEMBERS {
        let has = |members: &[Member]| members.iter().any(|m| m.name == *member);
        let in_struct = tables.structs.iter().any(|s| s.name == *owner && has(&s.members));
        if !in_struct && !tables.commands.iter().any(|c| c.canonical == *owner && has(&c.params)) {
            return Err(format!("overlay: no member `{owner}.{member}`"));
        }
    }
    for ((owner, param), ..) in overlay::INNER_LENGTHS {
        let found = tables.commands.iter().find(|c| c.canonical == *owner);
        if !found.is_some_and(|c| c.params.iter().any(|p| p.name == *param && p.shape == Shape::Array2)) {
            return Err(format!("overlay: no array of arrays `{owner}.{param}`"));
        }
    }
    for name in overlay::TRAILING {
        if !tables.commands.iter().any(|c| c.canonical == *name) {
            return Err(format!("overlay: no command `{name}`"));
        }
    }
    Ok(())
}
