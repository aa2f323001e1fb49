//! Which members of each struct and command have to be looked at, worked out once from the schema: most calls have few.
//!
//! Guarantees: what is left out can be neither a pointer nor a value that the registry restricts. Refuses nothing.

use super::rules::{self, Rule};
use crate::schema::generated::{COMMANDS, STRUCTS};
use crate::schema::{Member, Presence, Shape, Special, Ty};
use std::sync::LazyLock;

/// What to look at in one struct or command.
#[derive(Default)]
pub struct Plan {
    /// Indices of members.
    pub members: Box<[u8]>,
    /// What the specification says in prose.
    pub rule: Option<Rule>,
}

/// See the module's header.
pub struct Plans {
    /// By index into the schema's structs.
    pub structs: Vec<Plan>,
    /// By index into the schema's commands.
    pub commands: Vec<Plan>,
}

/// The plans.
pub static PLANS: LazyLock<Plans> = LazyLock::new(|| {
    let structs = STRUCTS
        .iter()
        .map(|s| Plan { members: relevant(s.members), rule: rules::of_struct(s.name) })
        .collect();
    let commands = COMMANDS
        .iter()
        .map(|c| Plan { members: relevant(c.params), rule: rules::of_command(c.canonical) })
        .collect();
    Plans { structs, commands }
});

fn relevant(members: &[Member]) -> Box<[u8]> {
    let looked_at = |m: &Member| match m.shape {
        // An sType is compared with its struct's.
        Shape::Value if m.name == "sType" => false,
        Shape::Value => has_to_be_looked_at(m.ty, m.presence),
        Shape::Fixed(_) | Shape::Fixed2(..) => has_to_be_looked_at(m.ty, m.elements),
        Shape::FixedStr(_) | Shape::Absent | Shape::TemplateData => false,
        _ => true,
    };
    members.iter().enumerate().filter(|(_, m)| looked_at(m)).map(|(i, _)| i as u8).collect()
}

/// Whether a value of this type can be anything but right.
pub fn has_to_be_looked_at(ty: Ty, presence: Presence) -> bool {
    match ty {
        Ty::Struct(id) => RELEVANT_STRUCTS[usize::from(id)],
        Ty::Enum(_) | Ty::Flags(_) | Ty::Flags64(_) => presence != Presence::Open,
        Ty::Handle(_) => presence == Presence::Required,
        _ => false,
    }
}

/// Structs that have to be looked at when they lie inside others.
static RELEVANT_STRUCTS: LazyLock<Vec<bool>> = LazyLock::new(|| {
    let mut found = vec![false; STRUCTS.len()];
    loop {
        let mut more = false;
        for (i, s) in STRUCTS.iter().enumerate().filter(|(i, _)| !found[*i]).collect::<Vec<_>>() {
            let member = |m: &Member| match (m.shape, m.ty) {
                (Shape::Value | Shape::Fixed(_) | Shape::Fixed2(..), Ty::Struct(id)) => {
                    found[usize::from(id)]
                }
                (Shape::Value, ty) => has_to_be_looked_at(ty, m.presence),
                (Shape::Fixed(_) | Shape::Fixed2(..), ty) => has_to_be_looked_at(ty, m.elements),
                (Shape::FixedStr(_) | Shape::Absent | Shape::TemplateData, _) => false,
                _ => true,
            };
            let harmless = matches!(
                s.special,
                Special::ClearValue
                    | Special::Union64
                    | Special::DeviceOrHostAddress
                    | Special::DescriptorImageInfo
            );
            if !harmless && (s.members.iter().any(member) || rules::of_struct(s.name).is_some()) {
                (found[i], more) = (true, true);
            }
        }
        if !more {
            return found;
        }
    }
});
