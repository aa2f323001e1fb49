//! One call of a tool: a process of this program, and its answer.
//!
//! Guarantees: the answer has what the process printed, up to [`LONGEST`] bytes, and says what is left out; what it said on stderr, and an
//! exit code other than 0, follow it. Dropping the future ends the process. Pictures are of a folder that is gone afterwards.

use crate::schema::words;
use crate::served::Served;
use crate::tools::{Answer, Tool};
use base64::Engine;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject};
use serde_json::Value;
use std::path::Path;
use std::process::Stdio;
use tokio::io::{AsyncRead, AsyncReadExt, copy, sink};
use tokio::process::Command;
use tokio::sync::Mutex;

/// Most bytes of an answer's text, and of what was said on stderr. Some 50,000 tokens.
const LONGEST: usize = 200_000;
const LONGEST_SAID: u64 = 20_000;
/// Most bytes that are read of what a process prints.
const MOST_READ: u64 = 64 << 20;
/// Most pictures of an answer, and the size of each.
const PICTURES: usize = 8;
const LARGEST_PICTURE: u64 = 8 << 20;
/// Exit codes whose answers are answers: done, a regression, inconclusive, diverged.
const ANSWERED: [i32; 4] = [0, 3, 4, 5];

/// Whose turn it is to replay.
static REPLAYS: Mutex<()> = Mutex::const_new(());

/// Runs the tool.
pub(crate) async fn call(server: &Served, tool: &Tool, given: &JsonObject) -> CallToolResult {
    match run(server, tool, given).await {
        Ok(result) => result,
        Err(why) => CallToolResult::error(vec![ContentBlock::text(why)]),
    }
}

async fn run(server: &Served, tool: &Tool, given: &JsonObject) -> Result<CallToolResult, String> {
    if tool.replays && !server.replays {
        return Err("nothing is replayed by this server; start it with --allow-replay to let it".into());
    }
    let words = words(&server.commands, tool, given)?;
    // (two that share a GPU would measure each other)
    let _turn = if tool.replays { Some(REPLAYS.lock().await) } else { None };
    let folder = match tool.answer {
        Answer::Printed => None,
        Answer::Pictures => Some(tempfile::tempdir().map_err(|e| format!("no folder for pictures: {e}"))?),
    };
    let mut command = Command::new(&server.program);
    command.args(&words[..tool.command.len()]);
    command.args(folder.iter().map(|f| format!("--output={}", f.path().display())));
    command.args(&words[tool.command.len()..]);
    let started =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true).spawn();
    let mut process = started.map_err(|e| format!("{}: {e}", server.program.display()))?;
    let (out, err) = (process.stdout.take(), process.stderr.take());
    let (printed, said, ended) = tokio::join!(text(out, MOST_READ), text(err, LONGEST_SAID), process.wait());
    let (printed, said) = (fitting(printed), cut(said.0, said.1));
    let ended = ended.map_err(|e| format!("{}: {e}", server.program.display()))?;
    let mut content = vec![];
    if let Some(folder) = &folder {
        pictures(folder.path(), &printed, &mut content)?;
    }
    if !printed.is_empty() {
        content.insert(0, ContentBlock::text(printed));
    }
    let code = ended.code();
    if code != Some(0) {
        content.push(ContentBlock::text(format!("{ended}")));
    }
    if !said.trim().is_empty() {
        content.push(ContentBlock::text(said));
    }
    Ok(match code.is_some_and(|c| ANSWERED.contains(&c)) {
        true => CallToolResult::success(content),
        false => CallToolResult::error(content),
    })
}

/// What comes, up to this many bytes; the rest is read, so that the process goes on, and counted.
async fn text(from: Option<impl AsyncRead + Unpin>, most: u64) -> (String, u64) {
    let Some(mut from) = from else { return (String::new(), 0) };
    let mut bytes = Vec::new();
    // (what can be read no more has ended)
    let _ = (&mut from).take(most).read_to_end(&mut bytes).await;
    let left = copy(&mut from, &mut sink()).await.unwrap_or(0);
    (String::from_utf8_lossy(&bytes).into_owned(), left)
}

/// A text that says how much is missing of it.
fn cut(mut text: String, left: u64) -> String {
    if left > 0 {
        text += &format!("\n… cut here: {left} bytes more. Ask for less.");
    }
    text
}

/// What was printed, without timelines, of which words say nothing that tables do not, and as long as an answer may be.
fn fitting((printed, left): (String, u64)) -> String {
    fn leave(v: &mut Value) {
        match v {
            Value::Object(o) => {
                o.remove("timelines");
                o.values_mut().for_each(leave);
            }
            Value::Array(a) => a.iter_mut().for_each(leave),
            _ => {}
        }
    }
    let mut text = printed;
    if text.contains("\"timelines\"")
        && let Ok(mut value) = serde_json::from_str(&text)
    {
        leave(&mut value);
        text = format!("{value:#}\n");
    }
    let fits = text.floor_char_boundary(LONGEST);
    let left = left + (text.len() - fits) as u64;
    text.truncate(fits);
    cut(text, left)
}

/// Appends the folder's pictures, each behind its name, in the order in which they were printed, and what is written beside them.
fn pictures(folder: &Path, order: &str, content: &mut Vec<ContentBlock>) -> Result<(), String> {
    let failed = |e| format!("{}: {e}", folder.display());
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        match path.extension() {
            Some(e) if e == "png" => found.push(path),
            Some(e) if e == "json" => {
                content.push(ContentBlock::text(std::fs::read_to_string(&path).map_err(failed)?))
            }
            _ => {}
        }
    }
    found.sort_by_key(|path| order.find(&*path.file_name().unwrap_or_default().to_string_lossy()));
    for path in found.iter().take(PICTURES) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if std::fs::metadata(path).map_err(failed)?.len() > LARGEST_PICTURE {
            content.push(ContentBlock::text(format!(
                "{name}: larger than {} MiB, left out",
                LARGEST_PICTURE >> 20
            )));
            continue;
        }
        let bytes = std::fs::read(path).map_err(failed)?;
        content.push(ContentBlock::text(name));
        content
            .push(ContentBlock::image(base64::engine::general_purpose::STANDARD.encode(bytes), "image/png"));
    }
    if found.len() > PICTURES {
        content.push(ContentBlock::text(format!("{} pictures more are left out", found.len() - PICTURES)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_fit_and_leave_timelines_out() {
        let json = r#"{"reports": [{"timelines": [{"spans": [1, 2]}], "notes": ["é"]}]}"#;
        assert_eq!(
            fitting((json.into(), 0)),
            "{\n  \"reports\": [\n    {\n      \"notes\": [\n        \"é\"\n      ]\n    }\n  ]\n}\n"
        );
        assert_eq!(fitting(("draws 3\n".into(), 0)), "draws 3\n");
        let long = "é".repeat(LONGEST / 2 + 3);
        let cut = fitting((long, 0));
        assert!(cut.ends_with("\n… cut here: 6 bytes more. Ask for less."), "{}", &cut[cut.len() - 60..]);
    }
}
