//! A table of Markdown.
//!
//! Guarantees: a cell's bars and line ends do not break its row. Refuses nothing; a row that is too short is filled up.

/// The text of a table, with an empty line behind it. Columns named with a leading `>` stand to the right.
pub fn markdown(head: &[&str], rows: &[Vec<String>]) -> String {
    let cell = |s: &str| s.replace('|', "\\|").replace(['\n', '\r'], " ");
    let names: Vec<&str> = head.iter().map(|h| h.trim_start_matches('>')).collect();
    let rule: Vec<&str> = head.iter().map(|h| if h.starts_with('>') { "--:" } else { "---" }).collect();
    let mut text = format!("| {} |\n|{}|\n", names.join(" | "), rule.join("|"));
    for row in rows {
        let cells: Vec<String> =
            (0..head.len()).map(|n| cell(row.get(n).map_or("", String::as_str))).collect();
        text += &format!("| {} |\n", cells.join(" | "));
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_table() {
        let rows = [vec!["a|b".to_string(), "1".to_string()], vec!["c\nd".to_string()]];
        let text = super::markdown(&["name", ">number"], &rows);
        assert_eq!(text, "| name | number |\n|---|--:|\n| a\\|b | 1 |\n| c d |  |\n\n");
    }
}
