//! `closed-forms`: measures the scenes whose every number is known, and compares. Wants the built program and the captures.
//!
//! `closed-forms PROGRAM CAPTURES-DIR SCRATCH-DIR [OPTION…]`: each pass on each scene, with these options for `reray-replay
//! profile`; then pass `rays` on the scenes of whose rays every event is known (`tests/ray_events`). Prints how many numbers of
//! each table were compared; ends with 1 if one is wrong, with 77 if nothing was compared.
//! `scripts/closed-forms` runs it.

#[path = "mod.rs"]
mod closed_forms;
#[path = "../ray_events/mod.rs"]
#[allow(dead_code, reason = "pictures, and events of other orders, are the tests' affair")]
mod ray_events;

use closed_forms::SCENES;
use closed_forms::measure::{Measured, Places};
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [program, captures, scratch, options @ ..] = &args[..] else {
        eprintln!("closed-forms PROGRAM CAPTURES-DIR SCRATCH-DIR [OPTION...]");
        return ExitCode::from(2);
    };
    let places = Places { program: program.into(), captures: captures.into(), scratch: scratch.into() };
    match run(&places, options) {
        Ok(code) => code,
        Err(e) => {
            eprintln!("closed-forms: {e}");
            ExitCode::FAILURE
        }
    }
}

fn run(places: &Places, options: &[String]) -> Result<ExitCode, String> {
    let (mut compared, mut wrong) = (0, 0);
    for scene in SCENES {
        for pass in places.passes()? {
            match places.measure(scene, &pass, options) {
                Ok(Measured::Compared(verdict)) => {
                    let tables: Vec<String> =
                        verdict.compared.iter().map(|(table, n)| format!("{table} {n}")).collect();
                    println!("{scene}\t{pass}\t{}\t{} wrong", tables.join(", "), verdict.wrong.len());
                    for line in verdict.wrong.iter().take(20) {
                        println!("  {line}");
                    }
                    compared += verdict.compared.values().sum::<usize>();
                    wrong += verdict.wrong.len();
                }
                Ok(Measured::Refused(why)) => println!("{scene}\t{pass}\trefused: {}", why.trim()),
                Err(why) => {
                    println!("{scene}\t{pass}\tfailed: {}", why.trim());
                    wrong += 1;
                }
            }
        }
    }
    for scene in ray_events::SCENES {
        match places.compared(scene, "rays", options, |dir| ray_events::check(scene, dir)) {
            Ok(Measured::Compared(v)) => {
                let (events, beyond, error) = (v.events, v.beyond, v.error);
                let what = format!("{events} events, {beyond} boxes beyond a hit, off by {error:e} at most");
                println!("{scene}\trays\t{what}\t{} wrong", v.wrong.len());
                v.wrong.iter().take(20).for_each(|line| println!("  {line}"));
                compared += events;
                wrong += v.wrong.len() + usize::from(events == 0);
            }
            Ok(Measured::Refused(why)) => println!("{scene}\trays\trefused: {}", why.trim()),
            Err(why) => {
                println!("{scene}\trays\tfailed: {}", why.trim());
                wrong += 1;
            }
        }
    }
    println!("{compared} compared, {wrong} wrong");
    Ok(match (compared, wrong) {
        (_, 1..) => ExitCode::FAILURE,
        (0, 0) => ExitCode::from(77),
        _ => ExitCode::SUCCESS,
    })
}
