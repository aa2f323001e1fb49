//! Tests of decoding and encoding against bytes made from the schema.
