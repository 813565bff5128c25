//! The stand-in as an agent that calls tools: it looks at the data, writes a solution of the library to a file, runs it,
//! waits for it, mends or improves it, has the submission checked, and finishes.
//!
//! What comes next follows from the conversation alone, as with every answer of the stand-in.

mod speech;

use podium_types::chat::ChatRequest;
use podium_types::rng::Rng;
use serde_json::{Map, Value, json};

use self::speech::{Exchange, Speech, exchanges};
use super::library::{Library, Script};
use super::{Reply, VALIDATION, choice, prompt};

/// Solutions that worked, after which it is done.
const ENOUGH: usize = 2;
/// Solutions that are written at most.
const MOST: usize = 6;
/// Waits in a row for one program before it is interrupted.
const PATIENCE: usize = 4;
/// How often a solution is written and run in one answer, where an answer may hold two calls.
const AT_ONCE: f64 = 0.5;

/// A call that it makes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Made {
    pub(super) name: &'static str,
    pub(super) arguments: Map<String, Value>,
}

const SHELL: &str = "execute_bash";
const EDITOR: &str = "str_replace_editor";

/// The answer, where the request is one of an agent that calls tools.
pub(super) fn reply(library: &Library, request: &ChatRequest) -> Option<Reply> {
    let speech = Speech::of(request)?;
    let past = exchanges(request, speech);
    let text = shown(request, &past);
    let seed = request.seed.unwrap_or_else(|| super::seed_of(&text));
    let (said, calls) = Agent { library, speech, past: &past, text: &text }.next(&mut Rng::new(seed));
    Some(speech.write(&said, &calls))
}

/// All that the conversation shows, what it called included.
fn shown(request: &ChatRequest, past: &[Exchange]) -> String {
    let values = |exchange: &Exchange| {
        let texts = exchange.arguments.values().filter_map(Value::as_str).collect::<Vec<_>>().join("\n");
        format!("{texts}\n{}", exchange.result)
    };
    let opening = request.messages.iter().take(2).map(|message| message.content.as_str());
    let all: Vec<String> = opening.map(str::to_owned).chain(past.iter().map(values)).collect();
    all.join("\n").lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

struct Agent<'a> {
    library: &'a Library,
    speech: Speech,
    past: &'a [Exchange],
    text: &'a str,
}

impl Agent<'_> {
    fn next(&self, rng: &mut Rng) -> (String, Vec<Made>) {
        let Some(last) = self.past.last() else { return Self::look() };
        let result = last.result.as_str();
        match Self::doing(last) {
            Doing::Writing(file) if result.contains("the harness was stopped") => {
                Self::run(&file, "Once more.")
            }
            Doing::Writing(file) => Self::run(&file, "Now I run it."),
            Doing::Running if result.contains("is still running") => self.wait(),
            Doing::Running if result.contains("the harness was stopped") => match self.files().last() {
                Some(file) => Self::run(file, "It was cut. I run it again."),
                None => Self::look(),
            },
            Doing::Running => self.judged(result, rng),
            Doing::Checking if result.contains("is valid") => self.finish(),
            _ => self.write(rng),
        }
    }

    /// After a program has ended.
    fn judged(&self, result: &str, rng: &mut Rng) -> (String, Vec<Made>) {
        let worked = self.past.iter().filter(|exchange| exchange.result.contains("ended with exit code 0"));
        let worked = worked.filter(|exchange| matches!(Self::doing(exchange), Doing::Running)).count();
        let failed = prompt::failure(result).is_some();
        if (!failed && worked >= ENOUGH) || self.files().len() >= MOST {
            self.check()
        } else {
            self.write(rng)
        }
    }

    fn look() -> (String, Vec<Made>) {
        ("I look at the data.".to_owned(), vec![shell("ls -la input && head -n 3 input/*.csv")])
    }

    fn write(&self, rng: &mut Rng) -> (String, Vec<Made>) {
        let seen = prompt::Seen::read(self.library, self.text);
        let Some(script) = choice::choose(self.library, &seen, rng) else { return self.finish() };
        let file = format!("solution_{}.py", self.files().len() + 1);
        let code = self.library.code(script, self.text.contains(VALIDATION));
        let mut calls = vec![self.writing(&file, &code)];
        // Drawn in every format, so that the other choices do not hang on it.
        let at_once = rng.uniform() < AT_ONCE;
        if at_once && self.speech == Speech::Native {
            calls.push(shell(&format!("python {file}")));
        }
        (said(script), calls)
    }

    /// How a file is made in this format.
    fn writing(&self, file: &str, code: &str) -> Made {
        if self.speech == Speech::Tags {
            return shell(&format!("cat > {file} <<'END_OF_FILE'\n{}\nEND_OF_FILE", code.trim_end()));
        }
        let text = format!("{}\n", code.trim_end());
        made(EDITOR, json!({"command": "create", "path": file, "file_text": text}))
    }

    fn run(file: &str, said: &str) -> (String, Vec<Made>) {
        (said.to_owned(), vec![shell(&format!("python {file}"))])
    }

    fn wait(&self) -> (String, Vec<Made>) {
        let waits = self.past.iter().rev().take_while(|exchange| exchange.command() == Some("")).count();
        if waits < PATIENCE {
            return ("I wait for it.".to_owned(), vec![shell("")]);
        }
        let interrupt = json!({"command": "C-c", "is_input": true});
        ("It takes too long.".to_owned(), vec![made(SHELL, interrupt)])
    }

    fn check(&self) -> (String, Vec<Made>) {
        if self.speech == Speech::Tags {
            return self.finish();
        }
        ("I have the submission checked.".to_owned(), vec![made("validate_submission", json!({}))])
    }

    fn finish(&self) -> (String, Vec<Made>) {
        let message = format!("I wrote {} programs; the last valid submission stands.", self.files().len());
        (String::new(), vec![made("finish", json!({"message": message}))])
    }

    /// The files that it has written, in order.
    fn files(&self) -> Vec<String> {
        let file = |exchange: &Exchange| match Self::doing(exchange) {
            Doing::Writing(file) => Some(file),
            _ => None,
        };
        self.past.iter().filter_map(file).collect()
    }

    fn doing(exchange: &Exchange) -> Doing {
        let text = |name: &str| exchange.arguments.get(name).and_then(Value::as_str);
        match (exchange.name.as_str(), exchange.command()) {
            (EDITOR, _) => text("path").map_or(Doing::Other, |path| Doing::Writing(path.to_owned())),
            ("validate_submission", _) => Doing::Checking,
            (SHELL, Some(command)) => {
                match command.strip_prefix("cat > ").and_then(|rest| rest.split_once(' ')) {
                    Some((file, _)) => Doing::Writing(file.to_owned()),
                    None if command.starts_with("ls ") => Doing::Other,
                    None => Doing::Running,
                }
            }
            _ => Doing::Other,
        }
    }
}

/// What a call was for.
enum Doing {
    Writing(String),
    Running,
    Checking,
    Other,
}

fn said(script: &Script) -> String {
    script.plan.trim().to_owned()
}

fn shell(command: &str) -> Made {
    made(SHELL, json!({"command": command}))
}

fn made(name: &'static str, arguments: Value) -> Made {
    let arguments = match arguments {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    Made { name, arguments }
}
