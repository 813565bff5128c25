//! The reference of the command line, from what the parser itself knows.

use std::fmt::Write as _;

use clap::{Arg, ArgAction, Command};

/// Text of help in one line, with what Markdown would read as its own written out.
fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|").replace('<', "\\<")
}

fn name(argument: &Arg) -> String {
    let value = || {
        let names = argument.get_value_names().unwrap_or_default();
        names.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    };
    let takes = matches!(argument.get_action(), ArgAction::Set | ArgAction::Append);
    match (argument.get_short(), argument.get_long()) {
        (None, None) => format!("`{}`", value()),
        (short, long) => {
            let words = [short.map(|short| format!("-{short}")), long.map(|long| format!("--{long}"))];
            let mut words = words.into_iter().flatten().collect::<Vec<_>>().join(", ");
            if takes {
                let _ = write!(words, " {}", value());
            }
            format!("`{words}`")
        }
    }
}

fn meaning(argument: &Arg) -> String {
    let mut text = line(&argument.get_help().map(ToString::to_string).unwrap_or_default());
    let takes = matches!(argument.get_action(), ArgAction::Set | ArgAction::Append);
    let words: Vec<String> = argument
        .get_possible_values()
        .iter()
        .filter(|value| !value.is_hide_set())
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    if takes && !words.is_empty() {
        let _ = write!(text, " ({})", words.join(", "));
    }
    let defaults: Vec<_> =
        argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if takes && !defaults.is_empty() {
        let _ = write!(text, " [default: {}]", defaults.join(" "));
    }
    if let Some(variable) = argument.get_env() {
        let _ = write!(text, " [variable: `{}`]", variable.to_string_lossy());
    }
    text
}

fn table(page: &mut String, arguments: &[&Arg]) {
    if arguments.is_empty() {
        return;
    }
    page.push_str("| | |\n|---|---|\n");
    for argument in arguments {
        let needed = if argument.is_required_set() { " (needed)" } else { "" };
        let _ = writeln!(page, "| {}{needed} | {} |", name(argument), meaning(argument));
    }
    page.push('\n');
}

fn shown(argument: &Arg) -> bool {
    !argument.is_hide_set() && !["help", "version"].contains(&argument.get_id().as_str())
}

fn section(page: &mut String, path: &str, command: &Command) {
    let _ = writeln!(page, "## {path}\n");
    if let Some(about) = command.get_about() {
        let _ = writeln!(page, "{}.\n", line(&about.to_string()));
    }
    if command.has_subcommands() {
        for below in
            command.get_subcommands().filter(|below| below.get_name() != "help" && !below.is_hide_set())
        {
            section(page, &format!("{path} {}", below.get_name()), below);
        }
        return;
    }
    let own: Vec<&Arg> = command
        .get_arguments()
        .filter(|argument| shown(argument))
        .filter(|argument| !argument.is_global_set())
        .collect();
    table(page, &own);
}

#[test]
fn the_command_line() {
    let command = podium::cli::command();
    let mut page = "# The command line\n\nMade from the program's own parser; `podium COMMAND --help` says the same, with examples.\n\n\
                    ## For every command\n\n"
        .to_owned();
    let global: Vec<&Arg> = command
        .get_arguments()
        .filter(|argument| shown(argument))
        .filter(|argument| argument.is_global_set())
        .collect();
    table(&mut page, &global);
    for below in command.get_subcommands() {
        section(&mut page, &format!("podium {}", below.get_name()), below);
    }
    page.push_str(
        "## Exit codes\n\n0 done · 1 invalid submission or failed runs · 2 usage or configuration · 3 environment · \
         4 dollar or token cap · 5 stopped, resumable · 70 a bug of ours or of the strategy\n",
    );
    super::compare("cli.md", &page);
}
