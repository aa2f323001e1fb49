//! Clear values: which of their four words mean nothing, so that what happens to lie there is no change; and what the others are.
//!
//! Of depth the first word counts, of stencil the second, and nothing where an attachment is not cleared. Words are floats or integers,
//! as the attachment's format says; where it is not known, they are floats if both look like some. Guarantees: a word that counts
//! is never left out. Refuses nothing: without rows of the pass every word counts.

use super::bytes::is_usual;
use crate::query::Database;
use gfxr_parse::leaves::Leaf;
use std::collections::HashMap;

const CLEAR: &str = "VK_ATTACHMENT_LOAD_OP_CLEAR";
/// Members of type VkClearColorValue, or VkClearValue, besides those of render passes.
const COLORS: [&str; 3] = ["clearValue[", "pColor[", "customBorderColor["];

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
        let Some((of, word)) = self.attachment(block, path) else { return false };
        of.is_some_and(|(_, format, load)| {
            let depth = has_depth(format);
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

    /// The attachment that a clear value of a render pass is for, if it is known, and which of the value's words it is.
    fn attachment(&self, block: u64, path: &str) -> Option<(Option<&Attachment>, u64)> {
        let (_, rest) = path.split_once("pClearValues[")?;
        let mut numbers = rest.split(['[', ']']).filter_map(|n| n.parse::<u64>().ok());
        let (attachment, word) = (numbers.next()?, numbers.next()?);
        let all = self.0.get(&block);
        Some((all.and_then(|all| all.iter().find(|a| a.0 == attachment)), word))
    }

    /// The format of the attachment that a clear value of a render pass is for, if it is known.
    pub fn format(&self, block: u64, path: &str) -> Option<&str> {
        self.attachment(block, path)?.0.map(|a| a.1.as_str())
    }

    /// Both readings of a word as what it is, where it is a word of a clear value and no unsigned integer.
    pub fn read(&self, block: u64, path: &str, [a, b]: [&str; 2]) -> Option<[String; 2]> {
        let of = match self.attachment(block, path) {
            Some((of, word)) => of.map(|a| (a.1.as_str(), word)),
            None if COLORS.iter().any(|c| path.contains(c)) => None,
            None => return None,
        };
        let words = [a.parse::<u32>().ok()?, b.parse::<u32>().ok()?];
        let is_float = match of {
            Some((format, word)) if has_depth(format) || format.contains("_S8") => word == 0,
            Some((format, _)) if format.ends_with("_SINT") => {
                let [x, y] = words.map(u32::cast_signed);
                return Some([x.to_string(), format!("{y} (int32)")]);
            }
            Some((format, _)) => !format.ends_with("_UINT"),
            None => words.iter().all(|w| *w == 0 || is_usual(f32::from_bits(*w))),
        };
        let [x, y] = words.map(f32::from_bits);
        is_float.then(|| [x.to_string(), format!("{y} (float32)")])
    }
}

fn has_depth(format: &str) -> bool {
    ["_D16", "_D24", "_D32"].iter().any(|d| format.contains(d))
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

    #[test]
    fn words_are_what_the_format_says_or_what_they_look_like() {
        let of = |format: &str| vec![(0, format.to_owned(), CLEAR.to_owned())];
        let clears = Clears(HashMap::from([
            (1, of("VK_FORMAT_R8G8B8A8_UNORM")),
            (2, of("VK_FORMAT_R32_UINT")),
            (3, of("VK_FORMAT_R32_SINT")),
            (4, of("VK_FORMAT_D24_UNORM_S8_UINT")),
        ]));
        let half = "1056964608";
        let read = |block, word, of| {
            let path = format!("pRenderPassBegin.pClearValues[0][{word}]");
            clears.read(block, &path, of).map(|[a, b]| format!("{a} -> {b}"))
        };
        let float = Some("0 -> 0.5 (float32)".to_owned());
        assert_eq!(
            [read(1, 0, ["0", half]), read(4, 0, ["0", half]), read(9, 3, ["0", half])],
            [(); 3].map(|_| float.clone())
        );
        assert_eq!(read(3, 0, ["1", "4294967295"]).as_deref(), Some("1 -> -1 (int32)"));
        assert_eq!(
            [read(2, 0, ["0", half]), read(4, 1, ["0", half]), read(9, 0, ["0", "7"])],
            [None, None, None]
        );
        let dynamic = "pRenderingInfo.pColorAttachments[0].clearValue[2]";
        assert_eq!(clears.read(9, dynamic, ["0", half]), Some(["0".into(), "0.5 (float32)".into()]));
        assert_eq!(clears.read(9, "pRegions[0].size", ["0", half]), None);
    }
}
