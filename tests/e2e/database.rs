//! `db` and `sql`: what a question in SQL says of a capture is what the other commands say, on every sample.

use crate::device::device;
use crate::support::{Scratch, captures, reray, root, run, shared_captures, skip, text};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Runs our program and wants it to end well.
fn good(arguments: &[&str]) -> String {
    let out = run(arguments);
    assert!(out.status.success(), "{arguments:?}: {}", text(&out.stderr));
    text(&out.stdout)
}

/// An answer, a row an object.
fn ask(database: &str, sql: &str) -> Vec<Value> {
    let answer = good(&["sql", database, sql, "--format", "json"]);
    match serde_json::from_str(&answer) {
        Ok(Value::Array(rows)) => rows,
        other => panic!("{sql}: {other:?}"),
    }
}

/// Names and numbers: two columns.
fn pairs(database: &str, sql: &str) -> BTreeMap<String, u64> {
    let rows = ask(database, sql);
    rows.iter().map(|r| (plain(&r["a"]), r["b"].as_u64().expect("a number"))).collect()
}

fn plain(v: &Value) -> String {
    v.as_str().map_or_else(|| v.to_string(), str::to_owned)
}

fn path(p: &Path) -> &str {
    p.to_str().expect("plain")
}

/// The calls that `dump` prints.
fn dumped(capture: &str) -> Vec<Value> {
    let lines = good(&["dump", capture]);
    let all = lines.lines().map(|l| serde_json::from_str::<Value>(l).expect("JSON"));
    all.filter(|v| v["function"].is_object()).collect()
}

/// A database that says the same as `dump`: every call with its arguments and its result, by name and by object.
fn is_what_dump_prints(capture: &str, database: &str) {
    let calls = dumped(capture);
    let rows = ask(database, "SELECT call, name, thread, result, args FROM calls ORDER BY call");
    assert_eq!(rows.len(), calls.len(), "{capture}");
    for (row, call) in rows.iter().zip(&calls) {
        let function = &call["function"];
        let args: Value = serde_json::from_str(row["args"].as_str().expect("text")).expect("JSON");
        assert_eq!(row["call"], call["index"], "{capture}");
        assert_eq!((&row["name"], &row["thread"]), (&function["name"], &function["thread"]), "{capture}");
        assert_eq!(args, function["args"], "{capture}, block {}", call["index"]);
        let result = function.get("return").map_or(Value::Null, |r| json!(plain(r)));
        assert_eq!(row["result"], result, "{capture}, block {}", call["index"]);
    }
    let mut by_name: BTreeMap<String, u64> = BTreeMap::new();
    let mut by_buffer: BTreeMap<String, u64> = BTreeMap::new();
    for call in &calls {
        *by_name.entry(plain(&call["function"]["name"])).or_default() += 1;
        if let Some(buffer) = call["function"]["args"].get("commandBuffer") {
            let handle = buffer.as_u64().expect("a handle").cast_signed();
            *by_buffer.entry(handle.to_string()).or_default() += 1;
        }
    }
    assert_eq!(pairs(database, "SELECT name AS a, calls AS b FROM call_counts"), by_name, "{capture}");
    let sql = "SELECT c.object AS a, count(*) AS b FROM calls c JOIN call_objects o \
               ON o.call = c.call AND o.position = 0 WHERE o.type = 'VkCommandBuffer' GROUP BY 1";
    assert_eq!(pairs(database, sql), by_buffer, "{capture}");
}

/// Lines of CSV that are equal, but that SQL has the negative number of the same bits for one of 2^63 and more.
fn same_bits(ours: &str, sql: &str) -> bool {
    let (a, b): (Vec<&str>, Vec<&str>) = (ours.split(',').collect(), sql.split(',').collect());
    let same = |(a, b): (&&str, &&str)| {
        a == b
            || matches!((a.parse::<u64>(), b.parse::<i64>()), (Ok(a), Ok(b)) if b < 0 && a == b.cast_unsigned())
    };
    a.len() == b.len() && a.iter().zip(&b).all(same)
}

/// A database whose tables of bindings are the rows that `bindings` writes.
fn is_what_bindings_writes(capture: &str, database: &str, scratch: &Scratch) {
    let (trace, tables) = (scratch.path("trace"), scratch.path("tables"));
    for folder in [&trace, &tables] {
        let _ = std::fs::remove_dir_all(folder);
    }
    good(&["bindings", capture, "--sync", "--no-answers", "-o", path(&trace)]);
    good(&["analyze", path(&trace), "--tables", "--format", "csv", "-o", path(&tables)]);
    let mut compared = 0;
    for entry in std::fs::read_dir(&tables).expect("a folder") {
        let file = entry.expect("a file").path();
        let name = file.file_stem().and_then(|n| n.to_str()).expect("a name").to_owned();
        let written = std::fs::read_to_string(&file).expect("text");
        let sql = match name.as_str() {
            "invocations" => {
                "SELECT draw_id, frame, submission, command_buffer, recording, command, coalesce(pass, 0) AS pass, \
                 kind, coalesce(pipeline, 0) AS pipeline, indirect FROM draws ORDER BY draw_id"
                    .to_owned()
            }
            // (a draw is called so in SQL)
            name => format!("SELECT * FROM \"{}\" ORDER BY rowid", name.replace("invocation_", "draw_")),
        };
        let answer = good(&["sql", database, &sql, "--format", "csv"]);
        // (not the headers: the trace's have units behind the names)
        let (a, b): (Vec<&str>, Vec<&str>) =
            (written.lines().skip(1).collect(), answer.lines().skip(1).collect());
        assert_eq!(a.len(), b.len(), "{capture}: {name}");
        for (a, b) in a.iter().zip(b) {
            assert!(same_bits(a, b), "{capture}: {name}:\n{a}\n{b}");
        }
        compared += 1;
    }
    assert!(compared > 0, "{capture}");
}

#[test]
fn answers_are_those_of_other_commands_on_every_sample() {
    let scratch = Scratch::new("database-samples");
    let database = scratch.path("a.sqlite");
    let mut ran = 0;
    for capture in captures() {
        let capture = path(&capture);
        good(&["db", capture, "-o", path(&database)]);
        is_what_dump_prints(capture, path(&database));
        let count = |sql: &str| ask(path(&database), sql)[0]["n"].as_u64().expect("a number");
        let draws = count("SELECT count(*) AS n FROM draws");
        if draws > 0 {
            is_what_bindings_writes(capture, path(&database), &scratch);
            ran += 1;
        }
        for view in ask(path(&database), "SELECT name FROM schema_views") {
            good(&["sql", path(&database), &format!("SELECT * FROM {} LIMIT 1", plain(&view["name"]))]);
        }
        let info: Value = serde_json::from_str(&good(&["info", capture, "--json"])).expect("JSON");
        assert_eq!(
            info["calls"]["total"].as_u64(),
            Some(count("SELECT count(*) AS n FROM calls")),
            "{capture}"
        );
        // What is told of runs leads to what was called.
        for (table, column) in
            [("executions", "call"), ("passes", "call"), ("recordings", "begin_call"), ("commands", "call")]
        {
            let lost =
                format!("SELECT count(*) AS n FROM {table} WHERE {column} NOT IN (SELECT call FROM calls)");
            assert_eq!(count(&lost), 0, "{capture}: {table}.{column}");
        }
        let lost = "SELECT count(*) AS n FROM executions e LEFT JOIN commands c ON c.call = e.call \
                    WHERE c.recording IS NOT e.recording OR c.command IS NOT e.command";
        assert_eq!(count(lost), 0, "{capture}: an execution is a recorded command");
        let lost = "SELECT count(*) AS n FROM call_objects c WHERE made = 1 AND handle NOT IN (SELECT handle FROM objects) \
                    AND call IN (SELECT call FROM calls WHERE result IS NULL OR result = 'VK_SUCCESS')";
        assert_eq!(count(lost), 0, "{capture}: what is made is an object");
    }
    assert!(ran > 10, "{ran} captures run something");
}

#[test]
fn every_view_answers_and_every_column_is_described() {
    let scratch = Scratch::new("database-views");
    let database = scratch.path("a.sqlite");
    let sample = root().join("captures/samples/uniforms.gfxr");
    good(&["db", path(&sample), "-o", path(&database)]);
    let database = path(&database);
    let schema = good(&["sql", database, "--schema"]);
    let views = ask(database, "SELECT name FROM schema_views");
    assert!(views.len() >= 10, "{views:?}");
    for view in views {
        let name = plain(&view["name"]);
        assert!(schema.contains(&format!("\nview {name}: ")), "{name}: {schema}");
        ask(database, &format!("SELECT * FROM {name} LIMIT 5"));
    }
    let sql = "SELECT m.name || '.' || c.name AS n FROM sqlite_master m JOIN pragma_table_info(m.name) c \
               LEFT JOIN schema_columns s ON s.table_name = m.name AND s.name = c.name \
               WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' AND m.name NOT LIKE 'schema_%' AND m.name <> 'about' \
               AND s.about IS NULL";
    assert_eq!(ask(database, sql), [Value::Null; 0], "columns without a meaning");
    // A scene with known contents: labels within labels, and secondary command buffers.
    let labels = pairs(database, "SELECT path AS a, count(*) AS b FROM labels WHERE frame = 1 GROUP BY path");
    assert!(labels.keys().any(|p| p.contains('/')), "labels are nested: {labels:?}");
    let secondary = ask(database, "SELECT count(*) AS n FROM recordings WHERE level = 'secondary'");
    assert!(secondary[0]["n"].as_u64() > Some(0), "{secondary:?}");
}

#[test]
fn a_question_that_makes_no_sense_is_one_of_usage_and_changes_nothing() {
    let scratch = Scratch::new("database-errors");
    let database = scratch.path("a.sqlite");
    let sample = root().join("captures/samples/closed_compute.gfxr");
    good(&["db", path(&sample), "-o", path(&database)]);
    let before = std::fs::read(&database).expect("written");
    for (sql, says) in [
        ("SELECT missing FROM calls", "no such column: missing"),
        ("SELECT * FROM nowhere", "no such table: nowhere"),
        ("SELEC 1", "syntax error"),
        ("DELETE FROM calls", "readonly"),
        ("CREATE TABLE mine (a)", "readonly"),
        ("SELECT 1; SELECT 2", "ultiple statements"),
    ] {
        let out = run(["sql", path(&database), sql]);
        let stderr = text(&out.stderr);
        assert_eq!(out.status.code(), Some(2), "{sql}: {stderr}");
        // (what there is helps where something is not there)
        let helps = says.starts_with("no such");
        assert!(stderr.contains(says) && stderr.contains("--schema") == helps, "{sql}: {stderr}");
        assert!(out.stdout.is_empty(), "{sql}: {}", text(&out.stdout));
    }
    assert!(std::fs::read(&database).expect("still there") == before, "nothing changed it");
    let out = run(["sql", path(&scratch.path("none.gfxr")), "SELECT 1"]);
    assert_eq!(out.status.code(), Some(1), "{}", text(&out.stderr));
    assert!(text(&out.stderr).contains("none.gfxr"));
}

#[test]
fn a_database_is_kept_until_the_capture_changes() {
    let scratch = Scratch::new("database-cache");
    let capture = scratch.path("a.gfxr");
    let sample = |name: &str| root().join("captures/samples").join(name);
    std::fs::copy(sample("closed_compute.gfxr"), &capture).expect("a copy");
    let kept = || {
        let all = std::fs::read_dir(scratch.path(".")).expect("a folder");
        let names = all.map(|e| e.expect("a file").file_name().into_string().expect("plain"));
        let mut names: Vec<String> = names.filter(|n| n != "a.gfxr").collect();
        names.sort();
        names
    };
    let sql = "SELECT count(*) AS n FROM calls";
    let count = || good(&["sql", path(&capture), sql, "--format", "csv"]);
    let first = count();
    let files = kept();
    assert_eq!(files.len(), 1, "{files:?}");
    assert!(files[0].starts_with(".a.gfxr.") && files[0].ends_with(".sqlite"), "{files:?}");
    let made = std::fs::metadata(scratch.path(&files[0])).and_then(|m| m.modified()).expect("a time");
    assert_eq!(count(), first);
    let again = std::fs::metadata(scratch.path(&files[0])).and_then(|m| m.modified()).expect("a time");
    assert_eq!(made, again, "it was not made again");
    // The same length, the same time of change, other contents: only the contents count.
    std::fs::copy(sample("cubes.gfxr"), &capture).expect("a copy");
    assert_ne!(count(), first, "not the earlier capture's answer");
    let now = kept();
    assert!(now.len() == 1 && now != files, "the earlier one went: {files:?}, {now:?}");
    let cache = scratch.path("cache");
    good(&["sql", path(&capture), sql, "--cache", path(&cache)]);
    assert_eq!(std::fs::read_dir(&cache).expect("made").count(), 1);
}

#[test]
fn traces_answers_and_times_are_beside_it() {
    if !device("times in a database") {
        return;
    }
    let scratch = Scratch::new("database-traces");
    let [trace, times, database] = ["trace", "times.json", "a.sqlite"].map(|n| scratch.path(n));
    let sample = root().join("captures/samples/cubes.gfxr");
    let passes = ["--passes", "simt,blocks", "--assume-subgroups"];
    good(&[&["profile", path(&sample), "--frames", "2", "-o", path(&trace)], &passes[..]].concat());
    let printed = good(&[path(&sample), "--times", "command", "--frames", "2", "--json"]);
    std::fs::write(&times, &printed).expect("written");
    let parquet = scratch.path("parquet");
    let all = [path(&trace), path(&times), "-o", path(&database), "--parquet", path(&parquet)];
    good(&[&["db", path(&sample)], &all[..]].concat());
    let database = path(&database);
    // The trace's own rows.
    for table in ["simt", "block_runs", "entries", "pipelines"] {
        let rows = good(&["analyze", path(&trace), "--table", table]);
        let sql = format!("SELECT * FROM trace_{table} ORDER BY rowid");
        let answer = good(&["sql", database, &sql, "--format", "csv"]);
        let without: Vec<String> = answer
            .lines()
            .skip(1)
            .map(|l| l.strip_prefix("1,").expect("the trace's number").to_owned())
            .collect();
        assert!(rows.lines().skip(1).eq(without), "{table}:\n{rows}\n{answer}");
    }
    // Answers, with the numbers of the reports.
    let answers: Value =
        serde_json::from_str(&good(&["analyze", path(&trace), "--format", "json"])).expect("JSON");
    let times: Value = serde_json::from_str(&printed).expect("JSON");
    let of_times = [&times["report"], &times["times"]["report"]];
    let reports = answers["reports"]
        .as_array()
        .expect("reports")
        .iter()
        .chain(of_times.into_iter().filter(|r| r.is_object()));
    let mut compared = 0;
    for report in reports {
        for table in report["tables"].as_array().expect("tables") {
            let plain_name = |s: &Value| {
                let word = |c: char| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
                plain(s).chars().map(word).collect::<String>()
            };
            let name = format!("{}_{}", plain_name(&report["analysis"]), plain_name(&table["name"]));
            let number = ask(
                database,
                &format!(
                    "SELECT max(report) AS n FROM reports WHERE analysis = '{}'",
                    plain(&report["analysis"])
                ),
            );
            let sql = format!("SELECT * FROM \"{name}\" WHERE report = {} ORDER BY \"row\"", number[0]["n"]);
            let answer = good(&["sql", database, &sql, "--format", "csv"]);
            let rows = table["rows"].as_array().expect("rows");
            assert_eq!(answer.lines().count(), rows.len() + 1, "{name}");
            let sum = |cells: &mut dyn Iterator<Item = f64>| cells.sum::<f64>();
            let ours = ask(database, &sql);
            for (row, mine) in rows.iter().zip(&ours) {
                let theirs = sum(&mut row.as_array().expect("cells").iter().filter_map(Value::as_f64));
                let members = mine.as_object().expect("an object").iter();
                let mine = sum(&mut members
                    .filter(|m| m.0 != "report" && m.0 != "row")
                    .filter_map(|m| m.1.as_f64()));
                assert!((theirs - mine).abs() <= 1e-9 * theirs.abs().max(1.0), "{name}: {theirs} and {mine}");
            }
            compared += 1;
        }
    }
    assert!(compared > 3, "{compared} tables of reports");
    // Times of commands are those of the commands that ran.
    let spans = times["times"]["spans"].as_array().expect("spans");
    let commands: Vec<&Value> = spans.iter().filter(|s| s["kind"] == "command").collect();
    assert!(!commands.is_empty());
    let total = |v: &[&Value]| v.iter().map(|s| s["time_ns"].as_u64().expect("a time")).sum::<u64>();
    let sql = "SELECT sum(time_ns) AS n, count(*) AS spans FROM gpu_times WHERE kind = 'command'";
    let sums = ask(database, sql);
    assert_eq!((&sums[0]["n"], &sums[0]["spans"]), (&json!(total(&commands)), &json!(commands.len())));
    let sql = "SELECT sum(time_ns) AS n, count(*) AS ran, sum(g.name = 'vkCmd' || e.kind) AS named FROM executions e \
               JOIN recordings r USING (recording) JOIN gpu_times g ON g.kind = 'command' AND g.frame = e.frame \
               AND g.command_buffer = r.command_buffer AND g.command = e.command WHERE e.draw_id IS NOT NULL";
    let joined = ask(database, sql);
    assert!(joined[0]["ran"].as_u64() > Some(100), "{joined:?}");
    assert_eq!(joined[0]["named"], joined[0]["ran"], "each is the command that was timed: {joined:?}");
    // A draw has one number in its frame, whoever counts.
    let sql = "SELECT count(*) AS ran, count(p.pass) AS passes, \
               sum(g.command = i.command AND g.name = 'vkCmd' || i.kind AND g.pass IS p.number) AS same \
               FROM gpu_times g JOIN draws i USING (frame, draw) LEFT JOIN passes p ON p.pass = i.pass";
    let numbered = ask(database, sql);
    assert_eq!(numbered[0]["ran"], joined[0]["ran"], "{numbered:?}");
    assert_eq!(numbered[0]["same"], numbered[0]["ran"], "{numbered:?}");
    assert!(!ask(database, "SELECT * FROM execution_times LIMIT 1").is_empty());
    let files = std::fs::read_dir(&parquet).expect("a folder").count();
    let tables = ask(database, "SELECT count(*) AS n FROM schema_tables");
    assert_eq!(Some(files as u64), tables[0]["n"].as_u64(), "a Parquet file a table");
}

#[test]
fn a_capture_that_is_cut_off_is_answered_from_what_is_whole() {
    let scratch = Scratch::new("database-cut-off");
    let [capture, database] = ["a.gfxr", "a.sqlite"].map(|n| scratch.path(n));
    let whole = std::fs::read(root().join("captures/samples/uniforms.gfxr")).expect("it is committed");
    std::fs::write(&capture, &whole[..whole.len() - 3]).expect("written");
    let warned = |arguments: &[&str]| {
        let out = run(arguments);
        let stderr = text(&out.stderr);
        assert_eq!(out.status.code(), Some(0), "{arguments:?}: {stderr}");
        assert_eq!(stderr.matches("everything before it was read").count(), 1, "{arguments:?}: {stderr}");
        (text(&out.stdout), stderr.lines().last().map(str::to_owned))
    };
    let (_, says) = warned(&["dump", path(&capture)]);
    assert_eq!(warned(&["db", path(&capture), "-o", path(&database)]).1, says, "as `dump` says it");
    is_what_dump_prints(path(&capture), path(&database));
    let sql = "SELECT count(*) AS n FROM draws";
    for file in [&database, &capture, &capture] {
        let (answer, _) = warned(&["sql", path(file), sql, "--format", "csv"]);
        assert_eq!(answer, "n\n152\n", "all that the whole capture draws and dispatches");
    }
    // One that is cut off early has nothing that was to be drawn, and is answered all the same.
    std::fs::write(&capture, &whole[..whole.len() / 8]).expect("written");
    warned(&["db", path(&capture), "-o", path(&database)]);
    is_what_dump_prints(path(&capture), path(&database));
}

#[test]
fn damaged_and_hostile_captures_are_answered_or_refused() {
    let Some(shared) = shared_captures() else {
        return skip("hostile captures in a database", "../shared/captures is absent");
    };
    let scratch = Scratch::new("database-hostile");
    let mut seen = 0;
    for folder in ["hostile", "foreign"] {
        for entry in std::fs::read_dir(shared.join(folder)).into_iter().flatten() {
            let file = entry.expect("a file").path();
            if file.extension().is_none_or(|e| e != "gfxr") {
                continue;
            }
            let database = scratch.path("a.sqlite");
            let _ = std::fs::remove_file(&database);
            let out = reray().args(["db", path(&file), "-o", path(&database)]).output().expect("it runs");
            let stderr = text(&out.stderr);
            assert!(
                matches!(out.status.code(), Some(0 | 1)),
                "{}: {:?}: {stderr}",
                file.display(),
                out.status
            );
            assert!(!stderr.contains("panicked"), "{}: {stderr}", file.display());
            if out.status.code() == Some(1) {
                assert!(!stderr.is_empty(), "{}: it says why", file.display());
            }
            if database.exists() {
                let answer = run(["sql", path(&database), "SELECT count(*) FROM calls"]);
                assert_eq!(answer.status.code(), out.status.code(), "{}: {stderr}", file.display());
            }
            let left = std::fs::read_dir(scratch.path(".")).expect("a folder").count();
            assert_eq!(left, usize::from(database.exists()), "{}: nothing half-written", file.display());
            seen += 1;
        }
    }
    assert!(seen > 10, "{seen}");
}
