//! Reports as one page for a browser: a file that opens from disk and asks nothing of any network.
//!
//! The page is `page/`'s markup, style and scripts, and the data: a block of bytes
//! (`pack.rs`), compressed, in base64; the browser unpacks it. It knows a report's shapes, units and no analysis: what a report
//! does not have makes no section. Guarantees: the same input gives the same bytes; every number on the page is the report's
//! own; nothing of a report can become markup or script.

mod data;
mod pack;
#[cfg(test)]
mod tests;

pub use data::Input;

use super::escape;

/// The page's scripts, in the order in which they run.
const SCRIPTS: [&str; 10] = [
    include_str!("page/dom.js"),
    include_str!("page/unpack.js"),
    include_str!("page/format.js"),
    include_str!("page/things.js"),
    include_str!("page/chart.js"),
    include_str!("page/image.js"),
    include_str!("page/timeline.js"),
    include_str!("page/table.js"),
    include_str!("page/listing.js"),
    include_str!("page/page.js"),
];
const STYLE: &str = include_str!("page/page.css");
const FRAME: &str = include_str!("page/page.html");

/// The page, or what cannot be in one.
pub fn render(title: &str, inputs: &[Input]) -> Result<String, String> {
    let data = data::pack(title, inputs)?;
    // (the page's own in one function, so that none of its names is one of the browser's)
    let own: String = SCRIPTS.concat();
    let scripts = format!("<script>(() => {{\n{own}}})();</script>\n");
    // (an end of the element within a script would end it; ours have none)
    if scripts.to_ascii_lowercase().matches("</script").count() != 1 {
        return Err("a script of the page holds its own end".into());
    }
    let mut out = String::with_capacity(data.len() + scripts.len() + STYLE.len() + FRAME.len());
    let mut rest = FRAME;
    while let Some(at) = rest.find("{{") {
        let (before, after) = rest.split_at(at);
        let end = after.find("}}").ok_or("page.html: an open place")?;
        out.push_str(before);
        match &after[2..end] {
            "title" => out.push_str(&escape::xml(title)),
            "version" => out.push_str(env!("CARGO_PKG_VERSION")),
            "style" => out.push_str(STYLE),
            "data" => out.push_str(&data),
            "scripts" => out.push_str(&scripts),
            other => return Err(format!("page.html: no such place: {other}")),
        }
        rest = &after[end + 2..];
    }
    out.push_str(rest);
    Ok(out)
}
