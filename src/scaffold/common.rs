//! What every strategy gets from its scaffold besides its own tables: the head of the file and the prompts, with the
//! few things that are made from them everywhere.

use std::sync::Arc;

use podium_types::chat::{ChatRequest, Message};

use crate::context::{Budget, Task};
use crate::prompts::Prompts;
use crate::prompts::variables::BenchmarkVariables;
use crate::spec::Head;
use crate::strategy::StrategyError;

/// The head of a scaffold file and its compiled prompts.
#[derive(Clone, Debug)]
pub struct Common {
    /// The head.
    pub head: Arc<Head>,
    /// The prompts.
    pub prompts: Arc<Prompts>,
}

impl Common {
    /// The benchmark's rules: the system message of every agent.
    pub fn rules(&self, task: &Task, budget: &Budget) -> Result<String, StrategyError> {
        self.prompts.render(&self.head.benchmark.prompt, &BenchmarkVariables::new(task, budget))
    }

    /// A request with the settings of `role`, its output limit taken `output_factor` times.
    pub fn request(&self, role: &str, messages: Vec<Message>, output_factor: u32) -> ChatRequest {
        let settings = self.head.models.get(role);
        ChatRequest {
            messages,
            temperature: settings.and_then(|settings| settings.temperature),
            max_output_tokens: settings
                .and_then(|settings| settings.max_output_tokens)
                .map(|limit| limit.saturating_mul(output_factor)),
            ..ChatRequest::default()
        }
    }

    /// The packages of the Python environment that a prompt names.
    pub fn packages<'a>(&self, task: &'a Task) -> &'a [String] {
        task.packages.get(..self.head.benchmark.max_packages).unwrap_or(&task.packages)
    }
}
