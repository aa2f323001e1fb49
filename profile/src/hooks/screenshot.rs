//! Screenshots: presented images as RGBA bytes, right where they were presented.
