//! The names of the tools that come with the strategy: those that agents of this family have used from the start, for
//! models know them.

/// Runs commands in a shell that lives on.
pub const BASH: &str = "execute_bash";
/// Runs Python in a kernel that lives on.
pub const IPYTHON: &str = "execute_ipython_cell";
/// Looks at files and changes them.
pub const EDITOR: &str = "str_replace_editor";
/// Takes a thought down.
pub const THINK: &str = "think";
/// Has the submission's format checked.
pub const VALIDATE: &str = "validate_submission";
/// Ends the work.
pub const FINISH: &str = "finish";
/// A browser, which there is none of: models that were trained with one may ask for it all the same.
pub const BROWSE: &str = "execute_browse";
