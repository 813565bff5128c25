//! The loop: malformed answers, a model service that fails, a memory that keeps the plan, and actions that a file declares.

use podium_scaffold::{Effect, EffectResult, Finished, Scaffold};
use podium_types::chat::{ChatError, ChatRequest};
use podium_types::log::{Line, LineKind};

use super::world::{Model, down, turn, world};
use super::{MLAB, MLE_BENCH, load};
use crate::support::context::FakeContext;
use crate::support::home::Home;
use crate::support::prompts;

/// A run: how it ended, what the model that decides was asked, and the journal.
struct Ran {
    finished: Option<Finished>,
    asked: Vec<ChatRequest>,
    journal: Vec<(String, Effect, EffectResult)>,
}

impl Ran {
    /// What the model read at its question of this number.
    fn read(&self, number: usize) -> &str {
        &self.asked[number].messages.last().unwrap().content
    }

    /// The lines of a kind, of all steps.
    fn lines(&self, kind: LineKind) -> Vec<&Line> {
        let steps = self.journal.iter().filter_map(|(_, effect, _)| match effect {
            Effect::Step(step) => Some(&step.lines),
            _ => None,
        });
        steps.flatten().filter(|line| line.kind == kind).collect()
    }
}

fn run(scaffold: &Scaffold, steps: u32, model: Model) -> Ran {
    let (world, asked) = world(Home::with(&[("train.py", "print('hello')\n")]), model);
    let context = FakeContext::new(1, steps, world);
    let finished = context.drive(&*scaffold.strategy()).unwrap();
    let (asked, journal) = (asked.borrow().clone(), context.journal.borrow().clone());
    Ran { finished, asked, journal }
}

fn list() -> String {
    turn("p", "List Files", r#"{"dir_path": "."}"#)
}

#[test]
fn a_failing_service_is_told_and_tried_ten_times_where_the_scaffold_says_so() {
    let hears = |ran: &Ran| {
        let chats = ran.journal.iter().filter_map(|(_, effect, _)| match effect {
            Effect::Chat { hears_failures, .. } => Some(*hears_failures),
            _ => None,
        });
        chats.collect::<Vec<_>>()
    };
    // As MLE-bench ran it: its text stands in the place of the answer, which is not in form.
    let ran = run(&load(MLE_BENCH, &[]), 9, Box::new(|_, _| Err(down())));
    assert_eq!(ran.finished.as_ref().unwrap().reason, "no answer in form after 10 tries");
    assert_eq!(hears(&ran), [true; 10]);
    let refused = ran.lines(LineKind::Refused);
    assert_eq!(refused.len(), 10);
    assert!(refused.iter().all(|line| line.failed && line.text.contains("503 Service Unavailable")));
    assert_eq!(ran.read(9).matches("LLMError: the model service failed: 503").count(), 9);
    // It comes back: the run goes on in the same step.
    let ran = run(
        &load(MLE_BENCH, &[]),
        1,
        Box::new(|number, _| if number < 4 { Err(down()) } else { Ok(list()) }),
    );
    assert!(ran.finished.is_none() && ran.asked.len() == 5);
    assert!(ran.lines(LineKind::Seen)[0].text.contains("train.py"));
    // Elsewhere the run context stops the run before the strategy hears of it.
    assert_eq!(hears(&run(&load(MLAB, &[]), 1, Box::new(|_, _| Ok(list())))), [false]);
}

#[test]
fn an_answer_in_no_form_is_told_and_asked_for_again() {
    let answers =
        ["", "Well.", "Thought: t", &turn("p", "Run Script", "{}"), &turn("p", "**List Files**", "{}")]
            .map(str::to_owned);
    let model = move |number: usize, _: &ChatRequest| Ok(answers.get(number).cloned().unwrap_or_else(list));
    // Five tries are a step; the agent is told what was wrong with the last, and goes on.
    let ran = run(&load(MLAB, &[]), 2, Box::new(model));
    assert_eq!(ran.asked.len(), 6);
    for (number, told) in
        [(1, "empty"), (2, "missing"), (3, "missing"), (4, "`Run Script`"), (5, "nearest: `List Files`")]
    {
        assert!(ran.read(number).contains(told), "{number}, {told}: {}", ran.read(number));
    }
    assert_eq!(ran.lines(LineKind::Refused).len(), 5);
    let input_error = turn("p", "List Files", "nothing");
    let model =
        move |number: usize, _: &ChatRequest| Ok(if number == 0 { input_error.clone() } else { list() });
    let ran = run(&load(MLAB, &[]), 3, Box::new(model));
    assert!(ran.read(1).contains("ActionInputParsingError") && ran.lines(LineKind::Seen)[0].failed);
    assert!(!ran.read(2).contains("ActionInputParsingError"), "forgotten once it went well");
}

#[test]
fn the_memory_condenses_steps_and_never_the_plan() {
    let plan = |number: usize| format!("1. look\n2. step {number}\nTHE PLAN {}", "word ".repeat(300));
    let model =
        move |number: usize, _: &ChatRequest| Ok(turn(&plan(number), "List Files", r#"{"dir_path": "."}"#));
    let ran = run(&load(MLAB, &[("memory.tokens", "40")]), 12, Box::new(model));
    for number in 1..12 {
        let text = ran.read(number);
        assert!(text.contains(&format!("step {}\nTHE PLAN", number - 1)), "{number}: {text}");
    }
    let condensed: Vec<&str> =
        ran.lines(LineKind::Condensed).iter().map(|line| line.title.as_str()).collect();
    assert_eq!(condensed[..2], ["step 0", "step 1"]);
    assert!(condensed.contains(&"all that is remembered"), "{condensed:?}");
    let plans = ran.lines(LineKind::Plan);
    assert!(plans[0].text.starts_with("1. look") && plans.len() == 12);
    assert!(plans[1].text.contains("-2. step 0\n+2. step 1\n"), "{}", plans[1].text);
    // What is too long for the model's window is shown shorter.
    let tight = |_: usize, request: &ChatRequest| {
        let prompt_tokens = podium_types::tokens::estimate(request);
        if prompt_tokens > 16_000 {
            return Err(ChatError::ContextTooLong { prompt_tokens, output_tokens: 0, window: 16_000 });
        }
        Ok(turn(&"a long plan ".repeat(4_000), "List Files", r#"{"dir_path": "."}"#))
    };
    let ran = run(&load(MLAB, &[]), 3, Box::new(tight));
    assert_eq!(ran.lines(LineKind::Seen).len(), 3);
}

#[test]
fn an_action_that_a_file_declares_runs_a_command_without_a_shell() {
    let file = format!(
        "{MLAB}\n[[command]]\nname = \"Count Rows\"\ndescription = \"Counts.\"\nargv = [\"wc\", \"-l\", \"{{path}}\"]\n\
         observation = \"A number.\"\n[command.arguments]\npath = \"the file\"\n"
    );
    let scaffold = Scaffold::load(&file, prompts(), &[]).unwrap();
    let input = r#"{"path": "a; rm -r {path} $HOME"}"#;
    let ran = run(&scaffold, 2, Box::new(move |_, _| Ok(turn("p", "Count Rows", input))));
    assert!(ran.read(0).contains("Count Rows") && ran.read(0).contains("the file"));
    let program = ran.journal.iter().find_map(|(_, effect, _)| match effect {
        Effect::Execute(request) => Some(request.program.clone()),
        _ => None,
    });
    let argv = ["wc", "-l", "a; rm -r {path} $HOME"].map(str::to_owned).to_vec();
    assert_eq!(program, Some(podium_types::execution::Program::Command { argv }));
}
