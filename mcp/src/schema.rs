//! What a tool is, as its clients see it: its arguments as JSON Schema, and the command line that a call of it stands for.
//!
//! Both are read from clap's definition of the sub-command. A switch is a boolean, what may be given again and again an array of
//! strings, numbers are numbers, everything else is a string as on the command line; possible values are an `enum`, defaults are named.
//!
//! Guarantees: each value is one word of the command line, whatever it holds, and can never be another flag. Refuses, in a message,
//! arguments that the tool does not have and values of another type.

use crate::tools::Tool;
use clap::{Arg, ArgAction, Command};
use rmcp::model::{JsonObject, ToolAnnotations};
use serde_json::{Value, json};
use std::any::TypeId;

/// The sub-command of a tool.
pub(crate) fn command<'a>(all: &'a Command, tool: &Tool) -> Result<&'a Command, String> {
    let missing = |name: &str| format!("tool {}: there is no sub-command {name}", tool.name);
    tool.command
        .iter()
        .try_fold(all, |within, name| within.find_subcommand(name).ok_or_else(|| missing(name)))
}

fn argument<'a>(command: &'a Command, id: &str) -> Result<&'a Arg, String> {
    let found = command.get_arguments().find(|a| a.get_id() == id);
    found.ok_or_else(|| format!("{} has no argument {id}", command.get_name()))
}

fn several(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::Append) || arg.get_num_args().is_some_and(|n| n.max_values() > 1)
}

fn switch(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::SetTrue)
}

/// JSON Schema's name of the numbers that this argument takes.
fn number(arg: &Arg) -> Option<&'static str> {
    let of = arg.get_value_parser().type_id();
    let whole = [TypeId::of::<u16>(), TypeId::of::<u32>(), TypeId::of::<u64>(), TypeId::of::<usize>()];
    if whole.iter().any(|t| of == *t) {
        Some("integer")
    } else {
        (of == TypeId::of::<f64>()).then_some("number")
    }
}

fn property(arg: &Arg) -> Value {
    let mut about = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let defaults: Vec<_> = arg.get_default_values().iter().map(|v| v.to_string_lossy()).collect();
    if !defaults.is_empty() && !switch(arg) {
        about += &format!(" [default: {}]", defaults.join(", "));
    }
    let mut one = json!({ "type": number(arg).unwrap_or("string") });
    let values = arg.get_possible_values();
    if !values.is_empty() && !switch(arg) {
        one["enum"] = values.iter().filter(|v| !v.is_hide_set()).map(|v| Value::from(v.get_name())).collect();
    }
    let mut property = match (switch(arg), several(arg)) {
        (true, _) => json!({ "type": "boolean" }),
        (_, true) => json!({ "type": "array", "items": one }),
        _ => one,
    };
    property["description"] = about.into();
    property
}

/// The tool as clients see it.
pub(crate) fn tool(all: &Command, tool: &Tool, allowed: bool) -> Result<rmcp::model::Tool, String> {
    let command = command(all, tool)?;
    let (mut properties, mut required) = (JsonObject::new(), Vec::new());
    for id in tool.arguments() {
        let arg = argument(command, id)?;
        properties.insert(id.to_owned(), property(arg));
        if arg.is_required_set() || tool.required.contains(&id) {
            required.push(id);
        }
    }
    let schema = json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false });
    let Value::Object(schema) = schema else { unreachable!("it is made as one") };
    // What a person reads below the flags, but for the examples, which are command lines.
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let after = after.split("Examples:").next().unwrap_or_default().trim().to_owned();
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let refused = "Not available: this server replays nothing, as it was started without --allow-replay.";
    let parts = [if allowed { "" } else { refused }, &about, tool.about, &after];
    let about = parts.iter().filter(|p| !p.is_empty()).copied().collect::<Vec<_>>().join("\n");
    let hints = ToolAnnotations::new().read_only(!tool.replays).destructive(false);
    Ok(rmcp::model::Tool::new(tool.name, about, schema).with_annotations(hints))
}

/// The words behind the program's name that a call stands for.
pub(crate) fn words(all: &Command, tool: &Tool, given: &JsonObject) -> Result<Vec<String>, String> {
    let command = command(all, tool)?;
    let allowed: Vec<_> = tool.arguments().collect();
    if let Some(other) = given.keys().find(|k| !allowed.contains(&k.as_str())) {
        return Err(format!("there is no argument {other}; there are {}", allowed.join(", ")));
    }
    if let Some(missing) = tool.required.iter().find(|id| !given.contains_key(**id)) {
        return Err(format!("argument {missing} is missing"));
    }
    let mut words: Vec<String> = tool.command.iter().chain(tool.fixed).map(ToString::to_string).collect();
    let mut positional = Vec::new();
    for arg in command.get_arguments().filter(|a| given.contains_key(a.get_id().as_str())) {
        let values = values(arg, &given[arg.get_id().as_str()])?;
        match arg.get_long() {
            Some(long) if switch(arg) => words.extend(values.iter().map(|_| format!("--{long}"))),
            Some(long) => words.extend(values.iter().map(|v| format!("--{long}={v}"))),
            None => positional.push((arg.get_index(), values)),
        }
    }
    positional.sort();
    if !positional.is_empty() {
        words.push("--".to_owned());
        words.extend(positional.into_iter().flat_map(|(_, values)| values));
    }
    Ok(words)
}

/// The words that one argument's value is; of a switch, one where it is on.
fn values(arg: &Arg, value: &Value) -> Result<Vec<String>, String> {
    let one = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(n) => Some(n.to_string()),
        _ => None,
    };
    let found = match value {
        Value::Null => Some(Vec::new()),
        Value::Bool(on) if switch(arg) => Some(on.then(String::new).into_iter().collect()),
        Value::Array(all) if several(arg) => all.iter().map(one).collect(),
        value if !switch(arg) => one(value).map(|v| vec![v]),
        _ => None,
    };
    found.ok_or_else(|| format!("argument {}: {value} is not what it takes", arg.get_id()))
}
