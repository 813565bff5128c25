//! The data overview that an agent is shown: what files there are, and what is in the tables.

use std::path::Path;

/// What a preview shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreviewOptions {
    /// The text is cut after this many characters.
    pub max_chars: usize,
    /// Names and types only, no values.
    pub schema_only: bool,
}

/// An overview of the folder `public`, at most `max_chars` characters long.
pub fn preview(public: &Path, max_chars: usize) -> String {
    preview_with(public, PreviewOptions { max_chars, schema_only: false })
}

/// [`preview`] with all options.
pub fn preview_with(public: &Path, options: PreviewOptions) -> String {
    let _ = (public, options);
    String::new()
}
