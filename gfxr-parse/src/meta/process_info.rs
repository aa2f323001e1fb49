//! Types 18 and 22: the captured program's file, and the driver it ran on, as texts of fixed size.
//!
//! Guarantees: the bytes after each text's NUL are kept as well. Refuses nothing beyond missing bytes.

use crate::container::fields::{Fields, Put, Text};
use crate::error::Result;

/// Bytes of each text of [`ExeInfo`].
const PROPERTY_BYTES: usize = 256;
/// Bytes of [`DriverInfo`]'s text.
const DRIVER_BYTES: usize = 1024;

/// Type 18: the program's version resource (empty outside Windows but for the name). Every text is 256 bytes in the file;
/// see [`Text::until_nul`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ExeInfo<'a> {
    /// Version of the product.
    pub product_version: Text<'a>,
    /// Version of the file.
    pub file_version: Text<'a>,
    /// Version of the program, as numbers.
    pub app_version: [u32; 4],
    /// Name of the program's file.
    pub app_name: Text<'a>,
    /// Who made it.
    pub company_name: Text<'a>,
    /// What it is.
    pub file_description: Text<'a>,
    /// Its maker's name for it.
    pub internal_name: Text<'a>,
    /// What the file was called first.
    pub original_filename: Text<'a>,
    /// What it belongs to.
    pub product_name: Text<'a>,
}

impl<'a> ExeInfo<'a> {
    pub(crate) fn read(f: &mut Fields<'a>) -> Result<Self> {
        fn text<'a>(f: &mut Fields<'a>, what: &str) -> Result<Text<'a>> {
            f.bytes(PROPERTY_BYTES as u64, what).map(Text)
        }
        let (product_version, file_version) = (text(f, "product version")?, text(f, "file version")?);
        let mut app_version = [0; 4];
        for v in &mut app_version {
            *v = f.u32("app version")?;
        }
        Ok(ExeInfo {
            product_version,
            file_version,
            app_version,
            app_name: text(f, "app name")?,
            company_name: text(f, "company name")?,
            file_description: text(f, "file description")?,
            internal_name: text(f, "internal name")?,
            original_filename: text(f, "original file name")?,
            product_name: text(f, "product name")?,
        })
    }
    /// Writes the fields, each text cut or padded to its size.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.put_padded(self.product_version.0, PROPERTY_BYTES);
        out.put_padded(self.file_version.0, PROPERTY_BYTES);
        out.put_u32s(&self.app_version);
        for text in [
            self.app_name,
            self.company_name,
            self.file_description,
            self.internal_name,
            self.original_filename,
            self.product_name,
        ] {
            out.put_padded(text.0, PROPERTY_BYTES);
        }
    }
}

/// Type 22. 1024 bytes in the file; see [`Text::until_nul`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct DriverInfo<'a> {
    /// What the driver says about itself.
    pub text: Text<'a>,
}

impl<'a> DriverInfo<'a> {
    pub(crate) fn read(f: &mut Fields<'a>) -> Result<Self> {
        Ok(DriverInfo { text: Text(f.bytes(DRIVER_BYTES as u64, "driver info")?) })
    }
    /// Writes the text, cut or padded to its size.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.put_padded(self.text.0, DRIVER_BYTES);
    }
}
