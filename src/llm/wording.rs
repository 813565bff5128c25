//! What is said to a model in place of tools that it lacks or overlooks. The texts stand in `prompts/common/`.

/// Templates; `{{ tools }}` and `{{ names }}` are replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolWording {
    /// Names the `{{ tools }}` and the form of a call, for a model without tools.
    pub tools_as_text: String,
    /// Follows it where only one call may be made.
    pub one_call: String,
    /// Demands a call of one of `{{ names }}` where the protocol cannot.
    pub demand: String,
    /// Asks again for a call of one of `{{ names }}`.
    pub missing: String,
    /// Asks for a call as a JSON document, of one of `{{ tools }}`.
    pub document: String,
}

impl Default for ToolWording {
    fn default() -> Self {
        Self {
            tools_as_text: include_str!("../../prompts/common/tools_as_text.md.tera").to_owned(),
            one_call: include_str!("../../prompts/common/one_tool_call.md.tera").to_owned(),
            demand: include_str!("../../prompts/common/tool_demand.md.tera").to_owned(),
            missing: include_str!("../../prompts/common/tool_missing.md.tera").to_owned(),
            document: include_str!("../../prompts/common/tool_document.md.tera").to_owned(),
        }
    }
}
