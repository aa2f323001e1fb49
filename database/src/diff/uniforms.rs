//! Members of uniform blocks, by the buffer and the byte that they lie at.
//!
//! Where a capture's bindings are in its database, a descriptor of the buffer leads to the pipelines that it was bound to, and these
//! say what their blocks' members are called. Guarantees: a name is that of a shader which had the buffer bound. Refuses nothing:
//! without bindings nothing has a name.

use crate::query::Database;
use rusqlite::params;
use std::cell::RefCell;
use std::collections::HashMap;

/// Members that are kept of a buffer, at most.
const MOST: i64 = 4096;

/// A member: its first byte in the buffer, the one behind its last, its name and type.
type Lies = (u64, u64, String);

/// Asks one database.
pub struct Uniforms<'d> {
    db: &'d Database,
    known: RefCell<HashMap<u64, Vec<Lies>>>,
}

impl<'d> Uniforms<'d> {
    /// Of a capture.
    pub fn new(db: &'d Database) -> Self {
        Uniforms { db, known: RefCell::default() }
    }

    /// Which member lies at a byte of a buffer.
    pub fn member(&self, buffer: u64, at: u64) -> Option<String> {
        let mut known = self.known.borrow_mut();
        let all = known.entry(buffer).or_insert_with(|| self.of(buffer).unwrap_or_default());
        all.iter().find(|m| (m.0..m.1).contains(&at)).map(|m| m.2.clone())
    }

    fn of(&self, buffer: u64) -> rusqlite::Result<Vec<Lies>> {
        let sql = "SELECT DISTINCT d.offset + coalesce(o.offset, 0) + m.offset, m.bytes, m.name, m.type, d.range \
             FROM descriptors d JOIN set_contents c ON c.descriptor = d.descriptor \
             JOIN draw_sets s ON s.contents = c.contents \
             JOIN draws i ON i.draw_id = s.draw_id \
             LEFT JOIN dynamic_offsets o ON o.offsets = s.offsets AND s.offsets > 0 AND o.binding = c.binding \
               AND o.element = c.element \
             JOIN resource_members m ON m.pipeline = i.pipeline AND m.space = 'block' AND m.\"set\" = s.\"set\" \
               AND m.binding = c.binding \
             WHERE d.buffer = ?1 AND d.type GLOB 'uniform buffer*' LIMIT ?2";
        let mut all = self.db.connection().prepare(sql)?;
        let rows = all.query_map(params![buffer.cast_signed(), MOST], |row| {
            let at = row.get::<_, i64>(0)?.cast_unsigned();
            let bytes = row.get::<_, i64>(1)?.cast_unsigned();
            let (name, ty): (String, String) = (row.get(2)?, row.get(3)?);
            Ok((at, at.saturating_add(bytes), format!("{name} ({ty})")))
        })?;
        rows.collect()
    }
}
