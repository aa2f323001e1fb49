//! The project's own chores, run as `cargo xtask <name>`.
//!
//! A sub-command is one module with `run(&[String]) -> Result<(), String>` and one line in `COMMANDS`. This file
//! holds no logic of its own; it refuses names it does not know.

mod bench;
mod check;
mod corpus;
mod generate;

/// A sub-command: its name, what it is for, and its entry.
type Command = (&'static str, &'static str, fn(&[String]) -> Result<(), String>);

const COMMANDS: &[Command] = &[
    ("generate", "write gfxr-parse's schema tables from the Vulkan registry", generate::run),
    ("bench-peers", "compare this project's commands with GFXReconstruct's, side by side", bench::run),
    ("corpus", "compare what captures/corpus replayed, and write its page", corpus::run),
    ("check", "find wrong arrows between crates, and sources that break the house's rules", check::run),
];

fn main() -> std::process::ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let name = args.first().map_or("", String::as_str);
    let Some((name, _, run)) = COMMANDS.iter().find(|c| c.0 == name) else {
        eprintln!("usage: cargo xtask <command> [options]\n");
        for (name, what, _) in COMMANDS {
            eprintln!("  {name:<12} {what}");
        }
        return std::process::ExitCode::from(2);
    };
    match run(&args[1..]) {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask {name}: {message}");
            std::process::ExitCode::FAILURE
        }
    }
}
