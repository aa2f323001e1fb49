//! Changes to a replay's calls on their way to the driver, for experiments: what does the frame cost without this?
//!
//! A change is written as passes are (`trace::plan::Use`), one file each here. It edits a copy of a call and passes that on:
//! what the executor follows ([`world`]) stays what the capture says, so that several changes, and hooks further in, agree on what
//! a command is. Guarantees: objects of a change's own go when those do that they stand for; what a change did, and what it
//! cannot reach, is counted in the replay's notes. Refuses changes and options that it does not know, naming those that there are.

mod barriers;
mod beside;
mod bound;
mod choice;
mod cleared;
mod compaction;
pub(crate) mod edit;
mod entry;
mod half;
pub(crate) mod memory;
mod multisampling;
mod shaders;
mod skip;
mod small_textures;
mod state;
mod structures;
mod subgroup_size;
mod tally;
mod workgroup_size;

pub use edit::Code;
pub use entry::Entry;
pub use tally::NOTE;

use entry::Made;
use replay::hook::Hook;
use state::hook::StateHook;
use trace::plan::Use;

/// Every change there is.
pub const LIST: &[Entry] = &[
    skip::ENTRY,
    shaders::ENTRY,
    state::no_fragments::ENTRY,
    state::one_pixel::ENTRY,
    state::no_blend::ENTRY,
    state::no_depth::ENTRY,
    state::no_color::ENTRY,
    half::ENTRY,
    multisampling::ENTRY,
    cleared::ENTRY,
    small_textures::ENTRY,
    subgroup_size::ENTRY,
    workgroup_size::ENTRY,
    barriers::WIDE,
    barriers::NONE,
    structures::ENTRY,
    structures::OPAQUE,
    structures::HALF,
];

/// The hooks of these changes, outermost first; they go before a replay's others.
pub fn hooks(changes: &[Use]) -> Result<Vec<Box<dyn Hook>>, String> {
    let mut hooks: Vec<Box<dyn Hook>> = vec![];
    let mut states: Option<(StateHook, &Use)> = None;
    // (other shaders first: what else changes shaders changes these)
    let (others, own): (Vec<&Use>, Vec<&Use>) = changes.iter().partition(|c| c.name == shaders::ENTRY.name);
    for change in others.into_iter().chain(own) {
        let Some(entry) = LIST.iter().find(|e| e.name == change.name) else {
            let all: Vec<&str> = LIST.iter().map(|e| e.name).collect();
            return Err(format!("there is no change {:?}; there are {}", change.name, all.join(", ")));
        };
        match ((entry.make)(change)?, &mut states) {
            (Made::Hook(hook), _) => hooks.push(hook),
            (Made::State(state, choice), None) => states = Some((StateHook::new(state, choice), change)),
            (Made::State(state, choice), Some((hook, first))) => {
                if !hook.add(state, &choice) {
                    return Err(format!(
                        "changes {first} and {change}: pipelines' state is changed for the same commands, by each change once"
                    ));
                }
            }
        }
    }
    hooks.extend(states.map(|(hook, _)| Box::new(hook) as Box<dyn Hook>));
    Ok(hooks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(all: &[&str]) -> Result<usize, String> {
        let all: Vec<Use> = all.iter().map(|c| c.parse().expect("a use")).collect();
        hooks(&all).map(|h| h.len())
    }

    #[test]
    fn what_is_not_known_is_refused_by_name() {
        assert_eq!(made(&["skip:at=5+copies", "half", "no-blend:at=2", "no-depth:at=2"]), Ok(3));
        let e = made(&["sikp"]).expect_err("no such change");
        assert!(e.starts_with("there is no change \"sikp\"; there are skip, shaders, no-fragments, "), "{e}");
        let e = made(&["skip:copy"]).expect_err("no such option");
        assert_eq!(e, "change skip has no option \"copy\"; it has at=A-B, label=GLOB, pipeline=ID, copies");
        let e = made(&["no-barriers"]).expect_err("which");
        assert_eq!(e, "change no-barriers: say which ones, by at=A-B or label=GLOB");
        for twice in [["no-blend:at=2", "no-depth:at=3"], ["no-blend", "no-blend"]] {
            let e = made(&twice).expect_err("two choices of state");
            assert!(e.contains("changed for the same commands"), "{e}");
        }
    }

    #[test]
    fn names_are_there_once_and_every_change_can_be_made() {
        let folder = tempfile::tempdir().expect("a folder");
        let (_, module) = crate::testing::scenes().swap_remove(0);
        let file = folder.path().join(format!("{}.spv", crate::ShaderHash::of(&module)));
        std::fs::write(file, crate::testing::bytes(&module)).expect("a file");
        for (n, e) in LIST.iter().enumerate() {
            assert!(LIST[..n].iter().all(|o| o.name != e.name), "{}", e.name);
            let which = match e.options {
                ["SIZE", ..] => ":8",
                ["DIR"] => &format!(":{}", folder.path().display()),
                ["trace" | "half", ..] => &format!(":{}", e.options[0]),
                some if some.contains(&choice::AT) => ":at=1-",
                _ => "",
            };
            let used = format!("{}{which}", e.name);
            assert_eq!(made(&[&used]).map_err(|e| e.to_string()), Ok(1), "{used}");
            assert!(e.asks.ends_with('?'), "{}", e.name);
        }
    }
}
