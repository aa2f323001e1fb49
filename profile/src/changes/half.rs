//! `half`: draws, dispatches and traces do half of their work.
//!
//! Of a dispatch or a mesh draw the largest of the three group counts is halved, of a trace the largest side of the launch, both
//! rounded down. Of a draw the instances are halved; of one instance, the draws of an indirect or multi draw; of one draw, the
//! vertices or indices, to whole triangles. Guarantees: nothing becomes empty. Refuses, by a count: what is too small to be halved, and
//! sizes that only memory has (indirect dispatches, traces and single draws, draws that count in memory).

use super::choice::{AT, Choice, Chooser, LABEL, PIPELINE};
use super::edit::{self, Edit};
use super::entry::{Entry, Made, no_others};
use super::tally::Tally;
use crate::hooks::command_times::commands::bind_point;
use gfxr_parse::ahead::Call;
use gfxr_parse::schema::CommandDef;
use gfxr_parse::schema::generated::COMMANDS;
use gfxr_parse::view::View;
use replay::error::Result;
use replay::exec::Executor;
use replay::hook::{Commands, Hook, Next};
use trace::plan::Use;
use world::{Depth, Outcome};

/// See the module's header.
pub const ENTRY: Entry = Entry {
    name: "half",
    options: &[AT, LABEL, PIPELINE],
    about: "half of the workgroups of a dispatch, of the launch of a trace, of the instances (else triangles) of a draw",
    asks: "does time follow work?",
    pictures_stay: false,
    make,
};

fn make(of: &Use) -> std::result::Result<Made, String> {
    let (choice, others) = Choice::read(of, ENTRY.options)?;
    no_others(&ENTRY, &others)?;
    Ok(Made::Hook(Box::new(Half { chooser: Chooser::new(choice), tally: Tally::new(ENTRY.name) })))
}

struct Half {
    chooser: Chooser,
    tally: Tally,
}

fn works(c: &CommandDef) -> bool {
    bind_point(c).is_some() || c.name.starts_with("vkCmdExecuteGeneratedCommands")
}

const TOO_SMALL: &str = "draws, dispatches and traces are too small to be halved";
const IN_MEMORY: &str =
    "indirect draws, dispatches and traces have their sizes in memory alone, and stay as they are";

/// What halves a command; or why nothing does.
fn halved(v: View<'_>) -> std::result::Result<Edit, &'static str> {
    let number =
        |of: View<'_>, name: &str| of.definition(name).map(|(_, at)| (at, of.u32(name).unwrap_or(0)));
    let half = |(at, n): (u32, u32)| (n >= 2).then_some(Edit { at, value: n / 2 });
    for sides in [["groupCountX", "groupCountY", "groupCountZ"], ["width", "height", "depth"]] {
        let all = sides.iter().filter_map(|s| number(v, s));
        // (of equal ones the first)
        if let Some(largest) = all.rev().max_by_key(|s| s.1) {
            return half(largest).ok_or(TOO_SMALL);
        }
    }
    // The newer commands have what an indirect draw says in a struct.
    let of = v.one("pInfo").unwrap_or(v);
    let counts = ["taskCount", "instanceCount", "drawCount"];
    if let Some(edit) = counts.iter().filter_map(|name| number(of, name)).find_map(half) {
        return Ok(edit);
    }
    let vertices = ["vertexCount", "indexCount"].iter().find_map(|name| number(v, name));
    let Some((at, n)) = vertices else {
        let direct = ["taskCount", "pVertexInfo", "pIndexInfo"].iter().any(|n| v.definition(n).is_some());
        return Err(if direct { TOO_SMALL } else { IN_MEMORY });
    };
    let triangles = n / 3;
    if triangles >= 2 { Ok(Edit { at, value: triangles / 2 * 3 }) } else { Err(TOO_SMALL) }
}

impl Hook for Half {
    fn name(&self) -> &'static str {
        "change half"
    }

    fn follows(&self) -> Depth {
        Depth::Commands
    }

    fn wants(&self) -> Commands {
        let all = COMMANDS.iter().filter(|c| works(c)).map(|c| c.name);
        let all: Vec<&str> = all.chain(self.chooser.wants().iter().copied()).collect();
        Commands::named(&all)
    }

    fn call(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        let world = cx.objects.world();
        self.chooser.see(world, call, &mut self.tally);
        if works(call.command) && self.chooser.chosen(world, call, bind_point(call.command)) {
            match halved(View::call(&call.image)) {
                Ok(edit) => {
                    let mut less = call.clone();
                    edit::apply(&mut less.image, &[edit]);
                    self.tally.done("draws, dispatches and traces halved");
                    return next.run(cx, &mut less);
                }
                Err(why) => self.tally.beyond(why, 1),
            }
        }
        next.run(cx, call)
    }

    fn finish(&mut self, cx: &mut Executor) -> Result<()> {
        self.tally.say(cx);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gfxr_parse::image::Image;
    use gfxr_parse::schema::{Shape, command_named};

    /// A command whose parameters are these numbers.
    fn numbers(name: &str, values: &[u64]) -> Image {
        let c = command_named(name).expect(name);
        let mut image = Image::default();
        image.command = Some(c);
        image.alloc(c.params.len() * 8 + 8);
        for ((n, p), value) in c.params.iter().enumerate().zip(values) {
            if p.shape == Shape::Value {
                image.edit_u64(8 * n as u32, *value);
            }
        }
        image
    }

    /// The parameter that becomes another, and what.
    fn half(name: &str, values: &[u64]) -> std::result::Result<(u32, u32), &'static str> {
        let image = numbers(name, values);
        halved(View::call(&image)).map(|e| (e.at / 8, e.value))
    }

    #[test]
    fn the_work_is_halved_where_it_can_be() {
        assert_eq!(half("vkCmdDispatch", &[1, 4, 7, 1]), Ok((2, 3)));
        assert_eq!(half("vkCmdDispatchBase", &[1, 0, 0, 0, 8, 8, 1]), Ok((4, 4)));
        assert_eq!(half("vkCmdDrawMeshTasksEXT", &[1, 1, 1, 5]), Ok((3, 2)));
        assert_eq!(half("vkCmdTraceRaysKHR", &[1, 0, 0, 0, 0, 640, 480, 1]), Ok((5, 320)));
        // Two instances, else whole triangles.
        assert_eq!(half("vkCmdDraw", &[1, 3, 2, 0, 0]), Ok((2, 1)));
        assert_eq!(half("vkCmdDraw", &[1, 15, 1, 0, 0]), Ok((1, 6)));
        assert_eq!(half("vkCmdDrawIndexed", &[1, 36, 1, 0, 0, 0]), Ok((1, 18)));
        // Several indirect draws.
        assert_eq!(half("vkCmdDrawIndexedIndirect", &[1, 5, 0, 9, 20]), Ok((3, 4)));
        assert_eq!(half("vkCmdDrawMultiEXT", &[1, 4, 0, 1, 0, 8]), Ok((1, 2)));
        for (name, values) in [("vkCmdDispatch", &[1, 1, 1, 1][..]), ("vkCmdDraw", &[1, 5, 1, 0, 0])] {
            assert_eq!(half(name, values), Err(TOO_SMALL), "{name}");
        }
        for (name, values) in [
            ("vkCmdDispatchIndirect", &[1, 5, 0][..]),
            ("vkCmdDrawIndirect", &[1, 5, 0, 1, 16]),
            ("vkCmdDrawIndirectCount", &[1, 5, 0, 6, 0, 100, 16]),
            ("vkCmdTraceRaysIndirectKHR", &[1, 0, 0, 0, 0, 9]),
        ] {
            assert_eq!(half(name, values), Err(IN_MEMORY), "{name}");
        }
    }

    #[test]
    fn every_command_that_works_is_halved_or_said_to_be_beyond() {
        for c in COMMANDS.iter().filter(|c| works(c)) {
            let image = numbers(c.name, &vec![600; c.params.len()]);
            let of = halved(View::call(&image));
            let beyond = ["Indirect", "Generated", "Cluster"].iter().any(|n| c.name.contains(n));
            assert!(of.is_ok() || beyond, "{}: {of:?}", c.name);
        }
    }
}
