//! No literal offset, index or stride where a call is read or linked: these have names (`gfxr_parse::member!`,
//! `param!`, `argument!`, `size_of_struct!`, or a `View`).
//!
//! Looks at what [`AT`] lists, called as methods or by name, outside tests and inside macros too where their arguments are
//! expressions. Guarantees: an offset in which an integer other than 0 stands is found. Does not see an integer
//! that was given a name before.

use super::sources::collect;
use std::fs;
use std::path::Path;
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, Lit, Token};

/// Where calls are read.
const LOOKED_AT: &[&str] = &["replay/src", "world/src", "profile/src"];

/// Not calls that are read: what writes hand-made ones for tests.
const TESTS: &[&str] = &["world/src/bench.rs", "profile/src/testing.rs"];

/// What takes an offset or an index first: the readers of an image, and those of a linked call.
const AT: &str = "u8 u16 u32 u64 f32 u32s u64s edit_u32 edit_u64 ptr target chain_has chain_find word_at set_word_at \
                  u32_at set_u32_at bytes_at set_bytes_at address_of arg set_arg param param_mut params params_mut";
/// What takes two indices.
const TWICE: &str = "params params_mut";

/// One finding a place.
pub fn check(root: &Path) -> Result<Vec<String>, String> {
    let mut files = Vec::new();
    for folder in LOOKED_AT {
        collect(&root.join(folder), &mut files).map_err(|e| format!("{folder}: {e}"))?;
    }
    files.sort();
    let mut findings = Vec::new();
    for file in files {
        let path = file.strip_prefix(root).unwrap_or(&file).to_string_lossy().replace('\\', "/");
        let is_test =
            path.contains("/tests/") || path.ends_with("/tests.rs") || TESTS.contains(&path.as_str());
        if !is_test {
            let text = fs::read_to_string(&file).map_err(|e| format!("{path}: {e}"))?;
            findings.extend(of_file(&path, &text)?);
        }
    }
    Ok(findings)
}

fn of_file(path: &str, text: &str) -> Result<Vec<String>, String> {
    let parsed = syn::parse_file(text).map_err(|e| format!("{path}: {e}"))?;
    let mut calls = Calls(Vec::new());
    calls.visit_file(&parsed);
    let found = calls.0.into_iter();
    Ok(found.map(|(line, name)| format!("{path}:{line}: {name}(…) with a literal offset")).collect())
}

/// Line and name of each call with a literal offset.
struct Calls(Vec<(usize, String)>);

impl Calls {
    fn look(&mut self, name: &syn::Ident, arguments: &Punctuated<Expr, Token![,]>) {
        let is_one = |of: &str| of.split_whitespace().any(|n| name == n);
        let offsets = usize::from(is_one(AT)) + usize::from(is_one(TWICE));
        if arguments.iter().take(offsets).any(is_literal) {
            self.0.push((name.span().start().line, name.to_string()));
        }
    }
}

impl<'ast> Visit<'ast> for Calls {
    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        self.look(&call.method, &call.args);
        visit::visit_expr_method_call(self, call);
    }
    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if let Expr::Path(function) = &*call.func
            && let Some(last) = function.path.segments.last()
        {
            self.look(&last.ident, &call.args);
        }
        visit::visit_expr_call(self, call);
    }
    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        if let Ok(arguments) = mac.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated) {
            // (what was parsed here does not live as long as the file)
            let mut inner = Calls(Vec::new());
            arguments.iter().for_each(|a| inner.visit_expr(a));
            self.0.append(&mut inner.0);
        }
    }
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_test(&item.attrs) {
            visit::visit_item_fn(self, item);
        }
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|a| match &a.meta {
        syn::Meta::List(l) => l.path.is_ident("cfg") && l.tokens.to_string() == "test",
        _ => false,
    })
}

/// Whether an integer other than 0 is added or multiplied in, or is one of several that are chosen from.
fn is_literal(offset: &Expr) -> bool {
    match offset {
        Expr::Lit(l) => matches!(&l.lit, Lit::Int(i) if i.base10_digits() != "0"),
        Expr::Binary(b) => is_literal(&b.left) || is_literal(&b.right),
        Expr::Paren(p) => is_literal(&p.expr),
        Expr::Group(g) => is_literal(&g.expr),
        Expr::Cast(c) => is_literal(&c.expr),
        Expr::Try(t) => is_literal(&t.expr),
        Expr::Block(b) => ends_in_literal(&b.block),
        Expr::If(i) => {
            ends_in_literal(&i.then_branch) || i.else_branch.as_ref().is_some_and(|e| is_literal(&e.1))
        }
        Expr::Match(m) => m.arms.iter().any(|a| is_literal(&a.body)),
        _ => false,
    }
}

fn ends_in_literal(block: &syn::Block) -> bool {
    matches!(block.stmts.last(), Some(syn::Stmt::Expr(e, None)) if is_literal(e))
}

#[cfg(test)]
mod tests {
    use super::of_file;

    /// The lines of a function's body with findings.
    fn lines(body: &str) -> Vec<String> {
        let found = of_file("x.rs", &format!("fn f() {{\n{body}\n}}")).expect("it parses");
        found.into_iter().map(|f| f.split(':').nth(1).expect("a line").to_owned()).collect()
    }

    #[test]
    fn literal_offsets_are_found() {
        for body in [
            "image.u64(8);",
            "image.u32(info + 16);",
            "image.u64(p.to + i * 8);",
            "image.target(8).map_or(0, |to| image.u64(to));",
            "image.u64(if push { 8 } else { at });",
            "linked.set_arg(3, 0);",
            "linked.param::<vk::BufferCreateInfo<'_>>(1);",
            "linked.params_mut::<u64>(3, COUNT);",
            "linked.params::<u64>(SETS, 2);",
            "u32(w + 36);",
            "assert_eq!(image.u64(24), 1);",
        ] {
            assert_eq!(lines(body), ["2"], "{body}");
        }
        assert_eq!(lines("a;\nimage.target(8).map_or(0, |to| image.u64(to + 16));"), ["3", "3"]);
    }

    #[test]
    fn names_are_not() {
        for body in [
            "image.u64(0);",
            "image.u64(at);",
            "image.u64(to + member!(\"VkMappedMemoryRange\", \"memory\"));",
            "image.target(param!(\"vkUnmapMemory2\", \"pMemoryUnmapInfo\"));",
            "linked.params::<u64>(SETS, COUNT);",
            "view.u32(\"flags\");",
            "linked.set_arg(FENCE, 8);",
        ] {
            assert!(lines(body).is_empty(), "{body}");
        }
        let test = "#[cfg(test)]\nmod tests { fn f() { image.u64(8); } }";
        assert_eq!(of_file("x.rs", test), Ok(vec![]));
    }
}
