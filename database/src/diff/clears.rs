//! Clear values: which of their four words mean nothing, so that what happens to lie there is no change.
//!
//! Of depth the first word counts, of stencil the second, and nothing where an attachment is not cleared. Guarantees: a word that counts
//! is never left out. Refuses nothing: without rows of the pass every word counts.

use crate::query::Database;
use gfxr_parse::leaves::Leaf;
use std::collections::HashMap;

const CLEAR: &str = "VK_ATTACHMENT_LOAD_OP_CLEAR";

/// An attachment: its place, its format, what becomes of it first.
type Attachment = (u64, String, String);

/// Attachments of render passes, by the call that begins them.
pub struct Clears(HashMap<u64, Vec<Attachment>>);

impl Clears {
    /// Of a capture.
    pub fn of(db: &Database) -> Clears {
        Clears(read(db).unwrap_or_default())
    }

    /// Whether a value of a call means nothing; `leaves` are all of the call.
    pub fn is_rubbish(&self, block: u64, path: &str, leaves: &[(String, Leaf)]) -> bool {
        if let Some((head, word)) = path.split_once(".clearValue[") {
            let word: u64 = word.trim_end_matches(']').parse().unwrap_or(0);
            let op = format!("{head}.loadOp");
            let kept = leaves.iter().any(|l| l.0 == op && !matches!(&l.1, Leaf::Plain(p) if p == CLEAR));
            let depth = head.ends_with("pDepthAttachment") && word > 0;
            let stencil = head.ends_with("pStencilAttachment") && word != 1;
            return kept || depth || stencil;
        }
        let Some((_, rest)) = path.split_once("pClearValues[") else { return false };
        let mut numbers = rest.split(['[', ']']).filter_map(|n| n.parse::<u64>().ok());
        let (Some(attachment), Some(word)) = (numbers.next(), numbers.next()) else { return false };
        let of = self.0.get(&block).and_then(|all| all.iter().find(|a| a.0 == attachment));
        of.is_some_and(|(_, format, load)| {
            let depth =
                ["_D16", "_D24", "_D32"].iter().any(|d| format.contains(d)) || format.contains("_X8_D24");
            let stencil = format.contains("_S8");
            let meant = match (depth, stencil) {
                (false, false) => load == CLEAR,
                // (stencil has a load of its own, which these rows do not have)
                (true, true) => word < 2,
                (true, false) => word < 1 && load == CLEAR,
                (false, true) => word == 1,
            };
            !meant
        })
    }
}

fn read(db: &Database) -> rusqlite::Result<HashMap<u64, Vec<Attachment>>> {
    let sql = "SELECT DISTINCT p.call, a.attachment, a.format, a.load FROM passes p JOIN pass_attachments a USING (pass) \
               WHERE p.render_pass IS NOT NULL AND a.format IS NOT NULL AND a.load IS NOT NULL";
    let mut all: HashMap<u64, Vec<Attachment>> = HashMap::new();
    let mut statement = db.connection().prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let number = |i| row.get::<_, i64>(i).map(i64::cast_unsigned);
        all.entry(number(0)?).or_default().push((number(1)?, row.get(2)?, row.get(3)?));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_nobody_reads_are_rubbish() {
        let of = |format: &str, load: &str| (0, format.to_owned(), load.to_owned());
        let clears = Clears(HashMap::from([
            (1, vec![of("VK_FORMAT_D32_SFLOAT", CLEAR)]),
            (2, vec![of("VK_FORMAT_R8G8B8A8_UNORM", CLEAR)]),
            (3, vec![of("VK_FORMAT_R8G8B8A8_UNORM", "VK_ATTACHMENT_LOAD_OP_LOAD")]),
        ]));
        let is =
            |block, word| clears.is_rubbish(block, &format!("pRenderPassBegin.pClearValues[0][{word}]"), &[]);
        assert_eq!([is(1, 0), is(1, 1), is(1, 3)], [false, true, true]);
        assert_eq!([is(2, 0), is(2, 3), is(3, 0), is(4, 3)], [false, false, true, false]);
        let loads = [("p.pDepthAttachment.loadOp".to_owned(), Leaf::Plain(CLEAR.into()))];
        let dynamic = |word| clears.is_rubbish(9, &format!("p.pDepthAttachment.clearValue[{word}]"), &loads);
        assert_eq!([dynamic(0), dynamic(1)], [false, true]);
    }
}
