//! One C declaration of the registry: a struct member or a command parameter.
//!
//! Splits `const <type>T</type>* const* <name>n</name>[2]:3` into its parts and keeps the attributes the tables need.
//! Refuses, by name, any form of declarator that it was not written for.

use super::error::Result;
use roxmltree::Node;

/// A declaration, split but not yet resolved.
#[derive(Clone, Debug)]
pub struct Decl {
    /// The identifier.
    pub name: String,
    /// The base type's name.
    pub base: String,
    /// What the outermost base is qualified with: `const T`.
    pub constant: bool,
    /// Number of `*`.
    pub stars: usize,
    /// Array dimensions as written: numbers or names of constants.
    pub dims: Vec<String>,
    /// Width of a bit-field.
    pub bits: Option<u8>,
    /// The `len` attribute.
    pub len: Option<String>,
    /// The `altlen` attribute: the same in C.
    pub altlen: Option<String>,
    /// The sibling that names the type of the object this 64-bit integer holds.
    pub objecttype: Option<String>,
    /// The `values` attribute: the structure type of an sType.
    pub values: Option<String>,
    /// The `optional` attribute: whether it may be null or zero, and whether what it leads to may.
    pub optional: Option<String>,
    /// The registry's attributes do not say when it is valid; the specification's prose does.
    pub noautovalidity: bool,
}

/// Whether an element (a member, a parameter, a feature…) belongs to plain Vulkan.
pub fn is_vulkan(node: Node) -> bool {
    node.attribute("api").is_none_or(|api| api.split(',').any(|a| a == "vulkan"))
}

/// The text of the child element with this tag.
pub fn child_text<'a>(node: Node<'a, '_>, tag: &str) -> Option<&'a str> {
    node.children().find(|c| c.has_tag_name(tag)).and_then(|c| c.text())
}

impl Decl {
    /// Reads a `<member>`, `<param>` or `<proto>`; `owner` is for messages.
    pub fn read(node: Node, owner: &str) -> Result<Decl> {
        let (mut before, mut middle, mut after) = (String::new(), String::new(), String::new());
        let (mut base, mut name) = (None, None);
        for child in node.children() {
            if child.is_text() {
                let text = child.text().unwrap_or_default();
                match (base, name) {
                    (_, Some(_)) => after.push_str(text),
                    (Some(_), None) => middle.push_str(text),
                    (None, None) => before.push_str(text),
                }
            } else if child.has_tag_name("type") {
                base = child.text();
            } else if child.has_tag_name("name") {
                name = child.text();
            } else if child.has_tag_name("enum") {
                after.push_str(child.text().unwrap_or_default());
            }
        }
        let name = name.ok_or_else(|| format!("{owner}: a declaration without a name"))?.trim().to_owned();
        let base = base.ok_or_else(|| format!("{owner}.{name}: no type"))?.trim().to_owned();
        let constant = match before.trim() {
            "" | "struct" => false,
            "const" | "const struct" => true,
            other => return Err(format!("{owner}.{name}: unknown qualifier `{other}`")),
        };
        let stars = match middle.split_whitespace().collect::<String>().as_str() {
            "" => 0,
            "*" => 1,
            "**" | "*const*" => 2,
            other => return Err(format!("{owner}.{name}: unknown declarator `{other}`")),
        };
        let (dims, bits) =
            Self::suffix(after.trim()).ok_or_else(|| format!("{owner}.{name}: unknown `{after}`"))?;
        let attribute = |key: &str| node.attribute(key).map(str::to_owned);
        Ok(Decl {
            name,
            base,
            constant,
            stars,
            dims,
            bits,
            len: attribute("len"),
            altlen: attribute("altlen"),
            objecttype: attribute("objecttype"),
            values: attribute("values"),
            optional: attribute("optional"),
            noautovalidity: node.attribute("noautovalidity") == Some("true"),
        })
    }

    /// `[A][B]` or `:n` behind the name.
    fn suffix(text: &str) -> Option<(Vec<String>, Option<u8>)> {
        if let Some(width) = text.strip_prefix(':') {
            return Some((Vec::new(), Some(width.trim().parse().ok()?)));
        }
        let mut dims = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (dim, tail) = rest.strip_prefix('[')?.split_once(']')?;
            dims.push(dim.trim().to_owned());
            rest = tail.trim();
        }
        Some((dims, None))
    }
}
