//! CSV as pandas reads it.
