//! The first messages of the conversation, and the tools on offer: they stay the same for the whole run, so that a
//! provider's cache holds them.

use podium_types::chat::{ChatRequest, Message, Speaker, Tool as Offered};

use crate::codeact::CodeAct;
use crate::codeact::arguments::Parameter;
use crate::codeact::format::{Format, tags};
use crate::codeact::tools::manual::Manual;
use crate::codeact::variables::{
    ManualVariables, ParameterVariables, SystemVariables, TaskVariables, ToolVariables,
};
use crate::context::{Budget, Task};
use crate::prompts::cut::Cutter;
use crate::prompts::sections::description;
use crate::prompts::variables::{submission_path, word};
use crate::strategy::StrategyError;

/// How the conversation begins.
#[derive(Clone, Debug)]
pub(crate) struct Opening {
    messages: Vec<Message>,
    tools: Vec<Offered>,
    stop: Vec<String>,
}

/// The name of a format, as templates know it.
pub(crate) const fn format_word(format: Format) -> &'static str {
    match format {
        Format::Native => "native",
        Format::Tags => "codeact-tags",
        Format::Functions => "fncall-text",
    }
}

impl Opening {
    /// For a competition.
    pub(crate) fn new(
        agent: &CodeAct,
        task: &Task,
        budget: &Budget,
        preview: &str,
    ) -> Result<Self, StrategyError> {
        let CodeAct { common, spec, tools } = agent;
        let format = spec.agent.format;
        let (soft, longest) = (spec.session.soft_timeout.millis(), spec.session.longest_wait.millis());
        let mut described = Vec::new();
        let mut offered = Vec::new();
        for ((tool, schema), table) in tools.all().zip(&spec.tool) {
            let variables = ManualVariables {
                submission_path: submission_path(task),
                soft_timeout_ms: soft,
                longest_wait_ms: longest,
                format: format_word(format),
            };
            let manual = Manual::read(&common.prompts.render(&table.prompt, &variables)?);
            offered.push(Offered {
                name: tool.name().to_owned(),
                description: manual.description.clone(),
                parameters: schema.json(&manual.parameters),
            });
            let parameter = |parameter: &Parameter| ParameterVariables {
                name: parameter.name.clone(),
                kind: parameter.kind.word(),
                required: parameter.required,
                description: manual.parameters.get(&parameter.name).cloned().unwrap_or_default(),
            };
            described.push(ToolVariables {
                name: tool.name(),
                description: manual.description.clone(),
                tag: tags::opening(tool.name()),
                parameters: schema.0.iter().map(parameter).collect(),
            });
        }
        let system = common.prompts.render(
            &spec.prompts.system,
            &SystemVariables {
                format: format_word(format),
                tools: described,
                submission_path: submission_path(task),
                soft_timeout_ms: soft,
                longest_wait_ms: longest,
                calls_per_turn: spec.agent.calls_per_turn,
            },
        )?;
        let rules = common.rules(task, budget)?;
        let cutter = Cutter::new(&common.prompts, &spec.prompts.remark);
        let first = common.prompts.render(
            &spec.prompts.task,
            &TaskVariables {
                description: &description(&task.description, spec.tokens.description, cutter)?,
                preview,
                packages: common.packages(task),
                submission_path: submission_path(task),
                metric: &task.metric,
                direction: word(task.direction),
            },
        )?;
        Ok(Self {
            messages: vec![
                Message::text(Speaker::System, format!("{}\n\n{}", rules.trim_end(), system.trim_end())),
                Message::text(Speaker::User, first.trim_end()),
            ],
            tools: if format.is_text() { Vec::new() } else { offered },
            stop: format.stops(),
        })
    }

    /// The messages.
    pub(crate) fn messages(&self) -> Vec<Message> {
        self.messages.clone()
    }

    /// A request with these messages.
    pub(crate) fn request(&self, agent: &CodeAct, messages: Vec<Message>) -> ChatRequest {
        ChatRequest {
            tools: self.tools.clone(),
            stop: self.stop.clone(),
            ..agent.common.request(&agent.spec.agent.role, messages, 1)
        }
    }
}
