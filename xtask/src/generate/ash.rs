//! The layout test.

use super::Result;
use super::model::Tables;
use std::path::Path;

pub fn write_list(_source: &Path, _root: &Path) -> Result<()> {
    Ok(())
}
pub fn layout_test(tables: &Tables, _root: &Path) -> Result<String> {
    Ok(super::emit::header(tables, "Layout test."))
}
