//! Which members of each struct and command a check of values and pointers has to look at: most calls have few.
//!
//! Guarantees: what is left out can be neither a pointer nor a value that the registry restricts, nor a struct with
//! such. Refuses nothing.

use super::model::{Member, Presence, Shape, Struct, Tables, Ty};

/// Fills the lists in.
pub fn fill(tables: &mut Tables) {
    let relevant = relevant_structs(&tables.structs);
    let list = |members: &[Member]| {
        let of = |(i, m): (usize, &Member)| member(m, &relevant).then_some(i as u8);
        members.iter().enumerate().filter_map(of).collect()
    };
    for s in &mut tables.structs {
        s.looked_at = list(&s.members);
    }
    for c in &mut tables.commands {
        c.looked_at = list(&c.params);
    }
}

/// Structs that have to be looked at where they lie inside others: found by going round until nothing is new.
fn relevant_structs(structs: &[Struct]) -> Vec<bool> {
    let mut relevant = vec![false; structs.len()];
    loop {
        let is_new = |(i, s): (usize, &Struct)| {
            // Unions by themselves, and what leads nowhere.
            let harmless = matches!(
                s.special,
                "BareUnion" | "ClearValue" | "Union64" | "DeviceOrHostAddress" | "DescriptorImageInfo"
            );
            (!relevant[i] && !harmless && s.members.iter().any(|m| member(m, &relevant))).then_some(i)
        };
        let found: Vec<usize> = structs.iter().enumerate().filter_map(is_new).collect();
        if found.is_empty() {
            return relevant;
        }
        found.into_iter().for_each(|i| relevant[i] = true);
    }
}

fn member(m: &Member, relevant: &[bool]) -> bool {
    match m.shape {
        // An sType is compared with its struct's.
        Shape::Value if m.name == "sType" => false,
        Shape::Value => value(m.ty, m.presence, relevant),
        Shape::Fixed(_) | Shape::Fixed2(..) => value(m.ty, m.elements, relevant),
        Shape::FixedStr(_) | Shape::Absent | Shape::TemplateData => false,
        _ => true,
    }
}

fn value(ty: Ty, presence: Presence, relevant: &[bool]) -> bool {
    match ty {
        Ty::Struct(id) => relevant[usize::from(id)],
        Ty::Enum(_) | Ty::Flags(_) | Ty::Flags64(_) => presence != Presence::Open,
        Ty::Handle(_) => presence == Presence::Required,
        _ => false,
    }
}
