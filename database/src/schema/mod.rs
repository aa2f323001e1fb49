//! The database's own tables and views, each column with its unit and meaning.
//!
//! Guarantees: [`VERSION`] goes up when a table, a view or a column changes its meaning or goes. What traces and answers bring
//! is described by those (`traces.rs`, `answers.rs`).

mod calls;
mod runs;
mod views;

pub use calls::{call_objects, calls, frames, memory_writes, metadata, objects};
pub use runs::{
    commands, draws, executions, input_buffers, labels, pass_attachments, passes, push_constants, recordings,
    submission_command_buffers, submission_semaphores, submissions,
};
pub use views::{View, views};

use crate::table::{Table, count, text};

/// The version of all of it.
pub const VERSION: u32 = 4;

/// The tables that say what the others are.
pub fn of_itself() -> [Table; 4] {
    [
        Table::new(
            "about",
            "what the database is of: its capture, the version of its schema, what made it",
            true,
            &[text("name", "what is said"), text("value", "it")],
            &[],
        ),
        Table::new(
            "schema_tables",
            "every table",
            true,
            &[text("name", "its name"), text("about", "what a row is")],
            &[],
        ),
        Table::new(
            "schema_columns",
            "every column of every table",
            false,
            &[
                text("table_name", "a row of `schema_tables`"),
                count("position", "index", "its place in the table, from 0"),
                text("name", "its name"),
                text("type", "INTEGER, REAL or TEXT"),
                text("unit", "what its values count or measure; empty for words"),
                text("about", "what they mean"),
            ],
            &[],
        ),
        Table::new(
            "schema_views",
            "every view",
            true,
            &[text("name", "its name"), text("about", "which question it answers")],
            &[],
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_every_column_says_what_it_is() {
        let all = [
            calls(),
            call_objects(),
            frames(),
            metadata(),
            memory_writes(),
            objects(),
            commands(),
            executions(),
            input_buffers(),
            draws(),
            labels(),
            pass_attachments(),
            passes(),
            push_constants(),
            recordings(),
            submission_command_buffers(),
            submission_semaphores(),
            submissions(),
        ];
        let mut names = std::collections::BTreeSet::new();
        for table in all.iter().chain(&of_itself()) {
            assert!(names.insert(table.name.clone()), "{} is there twice", table.name);
            let mut columns = std::collections::BTreeSet::new();
            for c in &table.columns {
                assert!(columns.insert(c.name.clone()), "{}.{} is there twice", table.name, c.name);
                assert!(!c.about.is_empty(), "{}.{} says nothing", table.name, c.name);
                let numbers = c.kind != crate::table::Kind::Text;
                assert_eq!(numbers, !c.unit.is_empty(), "{}.{}: numbers have a unit", table.name, c.name);
            }
            for column in table.indexes.iter().flatten() {
                assert!(columns.contains(column), "an index of {} over {column}", table.name);
            }
        }
        assert!(
            views(true, true).iter().all(|v| names.insert(v.name.into())),
            "a view is called as a table is"
        );
    }
}
