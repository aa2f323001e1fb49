//! `mcp`: a client's messages, line by line, and what comes back.

use crate::device::device;
use crate::screenshot::Picture;
use crate::support::{Scratch, reray, root, run, text};
use base64::Engine;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// A server, and a client that has introduced itself.
struct Client {
    server: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    next: u64,
}

impl Client {
    fn new(flags: &[&str]) -> Self {
        let mut command = reray();
        command.arg("mcp").args(flags).current_dir(root()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = command.spawn().expect("it starts");
        let (to, from) = (server.stdin.take().expect("piped"), server.stdout.take().expect("piped"));
        let mut client = Self { server, to, from: BufReader::new(from), next: 0 };
        let hello = json!({
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" }
        });
        let answer = client.ask("initialize", hello);
        assert_eq!(answer["serverInfo"]["name"], "reray-replay", "{answer}");
        assert!(answer["capabilities"]["tools"].is_object(), "{answer}");
        client.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    fn say(&mut self, message: &Value) {
        writeln!(self.to, "{message}").and_then(|()| self.to.flush()).expect("it listens");
    }

    fn sent(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        self.say(&json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params }));
        self.next
    }

    fn answer(&mut self, id: u64) -> Value {
        loop {
            let mut line = String::new();
            assert_ne!(self.from.read_line(&mut line).expect("it answers"), 0, "it ended");
            let message: Value = serde_json::from_str(&line).expect("each line is a message");
            if message["id"] == id {
                return message;
            }
        }
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.sent(method, params);
        let answer = self.answer(id);
        assert!(answer["error"].is_null(), "{answer}");
        answer["result"].clone()
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// What is answered, where it is no error.
    fn printed(&mut self, tool: &str, arguments: Value) -> String {
        let answer = self.call(tool, arguments);
        assert_ne!(answer["isError"], true, "{answer}");
        answer["content"][0]["text"].as_str().expect("text").to_owned()
    }

    /// Ends the conversation, as clients do.
    fn end(self) {
        let Self { mut server, to, .. } = self;
        drop(to);
        assert!(server.wait().expect("it ends").success());
    }
}

fn tools(client: &mut Client) -> Vec<Value> {
    let listed = client.ask("tools/list", json!({}));
    listed["tools"].as_array().expect("a list").clone()
}

#[test]
fn files_are_asked_and_nothing_is_replayed() {
    let mut client = Client::new(&[]);
    let tools = tools(&mut client);
    let page = std::fs::read_to_string(root().join("docs/commands/mcp.md")).expect("the page");
    let rows = page.lines().filter(|l| l.starts_with("| `")).count();
    assert_eq!(rows, tools.len(), "the page lists every tool");
    for tool in &tools {
        let name = tool["name"].as_str().expect("a name");
        let replays = tool["annotations"]["readOnlyHint"] == false;
        let row = page
            .lines()
            .find(|l| l.starts_with(&format!("| `{name}` |")))
            .unwrap_or_else(|| panic!("{name}"));
        assert_eq!(row.ends_with("| yes |"), replays, "{row}");
        let properties = tool["inputSchema"]["properties"].as_object().expect("arguments");
        assert!(!properties.is_empty(), "{name}");
        for (property, of) in properties {
            assert!(
                of["type"].is_string() && of["description"].as_str().is_some_and(|d| d.len() > 5),
                "{name} {property}"
            );
        }
        if replays {
            let refused = client.call(name, json!({ "file": "captures/samples/cubes.gfxr" }));
            assert_eq!(refused["isError"], true, "{refused}");
            let why = refused["content"][0]["text"].as_str().unwrap_or_default();
            assert!(why.contains("--allow-replay"), "{why}");
        }
    }
    // What is answered is what is printed.
    let capture = "captures/samples/cubes.gfxr";
    let printed = text(&run(["info", "--json", &format!("{}/{capture}", root().display())]).stdout);
    let (told, shown): (Value, Value) = (
        serde_json::from_str(&client.printed("info", json!({ "file": capture }))).expect("JSON"),
        serde_json::from_str(&printed).expect("JSON"),
    );
    assert_eq!(told["calls"], shown["calls"]);
    let scratch = Scratch::new("mcp-files");
    let copy = scratch.path("cubes.gfxr");
    std::fs::copy(root().join(capture), &copy).expect("copied");
    let copy = copy.display().to_string();
    let asked = "SELECT name, calls FROM call_counts ORDER BY calls DESC LIMIT 3";
    let rows = client.printed("query", json!({ "file": copy, "query": asked }));
    assert_eq!(rows, text(&run(["sql", &copy, asked, "--format", "json"]).stdout));
    assert!(rows.contains("vkCmd"), "{rows}");
    // Values are one word each, whatever they look like; other arguments are refused, and so are tools that there are not.
    let wrong = client.call("query", json!({ "file": copy, "query": "--schema" }));
    assert_eq!(wrong["isError"], true, "{wrong}");
    let wrong = client.call("info", json!({ "file": capture, "output": "/tmp/x" }));
    assert!(
        wrong["content"][0]["text"].as_str().is_some_and(|t| t.contains("there is no argument output")),
        "{wrong}"
    );
    let id = client.sent("tools/call", json!({ "name": "format_disk", "arguments": {} }));
    assert!(client.answer(id)["error"].is_object());
    client.end();
}

#[test]
fn what_is_replayed_is_measured_shown_and_asked() {
    if !device("mcp") {
        return;
    }
    let scratch = Scratch::new("mcp");
    let mut client = Client::new(&["--allow-replay"]);
    let capture = "captures/samples/cubes.gfxr";
    let shown = client.call("screenshot", json!({ "file": capture, "frames": "15" }));
    let content = shown["content"].as_array().expect("content");
    let picture = content.iter().find(|c| c["type"] == "image").unwrap_or_else(|| panic!("{shown}"));
    assert_eq!(picture["mimeType"], "image/png");
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(picture["data"].as_str().expect("data"))
        .expect("base64");
    let file = scratch.path("shown.png");
    std::fs::write(&file, bytes).expect("written");
    let expected = Picture::from_png(&root().join("captures/samples/cubes_frame_15.png"));
    Picture::from_png(&file).assert_equals(&expected, "the picture of the answer");
    let times: Value = serde_json::from_str(
        &client.printed("times", json!({ "file": capture, "frames": "3-5", "times": "pass" })),
    )
    .expect("JSON");
    assert!(times["schema_version"].is_u64(), "{times}");
    let trace = scratch.path("trace").display().to_string();
    let said = client.printed(
        "profile",
        json!({ "file": capture, "ask": ["simt"], "frames": "3", "stages": ["compute"], "output": trace }),
    );
    assert!(said.contains("The trace is in") && said.contains("1 compute"), "{said}");
    let listed: Value =
        serde_json::from_str(&client.printed("questions", json!({ "trace": trace }))).expect("JSON");
    assert!(
        listed["questions"].as_array().is_some_and(|q| q.iter().any(|q| q["name"] == "simt")),
        "{listed}"
    );
    let answer = client.printed("analyze", json!({ "trace": trace, "questions": ["simt"] }));
    assert!(serde_json::from_str::<Value>(&answer).is_ok(), "{answer}");
    // A call that is cancelled is no longer waited for, and the server goes on.
    let run = scratch.path("run").display().to_string();
    let id = client.sent(
        "tools/call",
        json!({ "name": "bench", "arguments": { "files": [capture], "frame": 15, "processes": 1000, "output": run } }),
    );
    client.say(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }),
    );
    assert!(client.printed("info", json!({ "file": capture })).contains("schema_version"));
    client.end();
}
