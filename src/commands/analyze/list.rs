//! `analyze --list`: the questions and tables there are, and, of a trace, what it has and can answer.

use crate::cli::AnalyzeFormat;
use crate::exit::{Failure, columns};
use crate::output;
use analyses::report::{Cell, Column, Table, Unit, counted, csv, text};
use analyses::{GROUPS, Question};
use experiment::questions::missing;
use serde::Serialize;
use trace::dir::Dir;
use trace::tables::TABLES;

/// What is printed as JSON.
#[derive(Serialize)]
struct List {
    schema_version: u32,
    questions: Vec<QuestionLine>,
    tables: Vec<TableLine>,
}

#[derive(Serialize)]
struct QuestionLine {
    name: &'static str,
    group: &'static str,
    about: &'static str,
    tables: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answerable: Option<bool>,
}

#[derive(Serialize)]
struct TableLine {
    name: String,
    about: &'static str,
    version: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size_bytes: Option<u64>,
}

/// The list in this form.
pub fn render(dir: Option<&Dir>, format: AnalyzeFormat) -> Result<String, Failure> {
    let list = list(dir);
    match format {
        AnalyzeFormat::Json => output::json(&list),
        AnalyzeFormat::Text if columns().is_some() => Ok(lines(&list)),
        AnalyzeFormat::Text => Ok(tables(&list).iter().map(text::table).collect::<Vec<_>>().join("\n")),
        AnalyzeFormat::Csv => Ok(tables(&list).iter().map(csv::render).collect::<Vec<_>>().join("\n")),
        AnalyzeFormat::Parquet => Err(Failure::usage("--list prints text, json or csv")),
    }
}

fn list(dir: Option<&Dir>) -> List {
    let question = |group: &'static str, q: &Question| QuestionLine {
        name: q.name,
        group,
        about: q.about,
        tables: q.wants.iter().map(|t| t.name).collect(),
        answerable: dir.map(|dir| missing(dir, q).is_empty()),
    };
    let notes = |name: &str| dir.and_then(|d| d.manifest().tables.iter().find(|t| t.name == name));
    let mut lines: Vec<TableLine> = TABLES
        .iter()
        .map(|t| TableLine {
            name: t.name.to_owned(),
            about: t.about,
            version: t.version,
            rows: dir.map(|_| notes(t.name).map_or(0, |n| n.rows)),
            size_bytes: dir.map(|_| notes(t.name).map_or(0, |n| n.size_bytes)),
        })
        .collect();
    for note in dir.iter().flat_map(|d| &d.manifest().tables) {
        if TABLES.iter().all(|t| t.name != note.name) {
            lines.push(TableLine {
                name: note.name.clone(),
                about: "(this program does not know it)",
                version: note.version,
                rows: Some(note.rows),
                size_bytes: Some(note.size_bytes),
            });
        }
    }
    let of_group = |g: &analyses::Group| g.questions.iter().map(|q| question(g.name, q)).collect::<Vec<_>>();
    List { schema_version: 1, questions: GROUPS.iter().flat_map(of_group).collect(), tables: lines }
}

/// For a terminal, which is not as wide as all of it.
fn lines(list: &List) -> String {
    let question = |q: &QuestionLine| {
        let not = if q.answerable == Some(false) { "(not of this trace) " } else { "" };
        (q.name, format!("{not}{}", q.about))
    };
    let table = |t: &'_ TableLine| {
        let rows = t.rows.map_or(String::new(), |n| format!("{}; each: ", counted(n, "row")));
        format!("{rows}{}", t.about)
    };
    let questions = text::described(list.questions.iter().map(question), columns());
    let tables = list.tables.iter().map(|t| (t.name.as_str(), table(t)));
    let tables = text::described(tables, columns());
    format!(
        "Questions\n{questions}\nTables, and what a row is\n{tables}\n--wide shows groups and the tables that questions need.\n"
    )
}

fn tables(list: &List) -> [Table; 2] {
    let of_trace = list.tables.iter().any(|t| t.rows.is_some());
    let word = |name: &str| Column::new(name, Unit::Text);
    let mut questions = Table {
        name: "questions".into(),
        columns: vec![word("question"), word("group"), word("answers"), word("from tables")],
        rows: vec![],
    };
    for q in &list.questions {
        let mut row: Vec<Cell> =
            vec![q.name.into(), q.group.into(), q.about.into(), q.tables.join(" ").into()];
        if let Some(yes) = q.answerable {
            row.insert(2, if yes { "yes" } else { "no" }.into());
        }
        questions.rows.push(row);
    }
    let mut tables =
        Table { name: "tables".into(), columns: vec![word("table"), word("a row is")], rows: vec![] };
    for t in &list.tables {
        let mut row: Vec<Cell> = vec![t.name.as_str().into(), t.about.into()];
        if of_trace {
            row.insert(1, t.rows.unwrap_or(0).into());
            row.insert(2, t.size_bytes.unwrap_or(0).into());
        }
        tables.rows.push(row);
    }
    if of_trace {
        questions.columns.insert(2, word("here"));
        tables.columns.insert(1, Column::new("rows", Unit::Count));
        tables.columns.insert(2, Column::new("size", Unit::Bytes));
    }
    [questions, tables]
}
