//! Scaffold files: what ships, what overrides do, and what wrong files say.

use std::fmt::Write as _;

use podium_scaffold::spec::overrides::Origin;
use podium_scaffold::tree_search::policy::rules::{RuleSpec, RulesSpec};
use podium_scaffold::{Registry, Scaffold, SpecError};

use crate::support::{AIDE, AIDE_MLEBENCH, TREE_SEARCHES, aide, prompts, scaffold, shipped, tables};

fn error(file: &str, overrides: &[(&str, &str)]) -> String {
    let overrides: Vec<_> = overrides.iter().map(|(path, value)| ((*path).into(), (*value).into())).collect();
    Scaffold::load(file, prompts(), &overrides).map(|_| ()).unwrap_err().to_string()
}

fn rules(scaffold: &Scaffold) -> Vec<RuleSpec> {
    let mut policy = tables(scaffold).policy.values().clone();
    assert_eq!(policy.as_object_mut().unwrap().remove("kind"), Some("rules".into()));
    serde_json::from_value::<RulesSpec>(policy).unwrap().rule
}

#[test]
fn what_ships_loads() {
    let scaffold = aide(&[]);
    assert_eq!(scaffold.roles(), ["code", "feedback"]);
    assert_eq!((scaffold.limits().steps, scaffold.limits().time_limit.millis()), (20, 86_400_000));
    let official = Scaffold::load(AIDE_MLEBENCH, prompts(), &[]).unwrap();
    let limits = official.limits();
    assert_eq!((limits.steps, limits.execution_timeout.millis()), (500, 32_400_000));
    let debug = &rules(&official)[1];
    assert_eq!((debug.probability, debug.max_debug_depth), (Some(1.0), Some(20)));
}

#[test]
fn overrides_are_typed_and_remembered() {
    let scaffold = aide(&[
        ("limits.time_limit", "2h"),
        ("policy.rule.2.probability", "1"),
        ("models.code.temperature", "0.8"),
        ("summary", "a = b"),
    ]);
    assert_eq!(scaffold.limits().time_limit.millis(), 7_200_000);
    assert_eq!(rules(&scaffold)[1].probability, Some(1.0));
    assert_eq!(scaffold.head().summary, "a = b");
    let origin = |path: &str| scaffold.values().iter().find(|value| value.path == path).unwrap().origin;
    assert_eq!(origin("limits.time_limit"), Origin::Set);
    assert_eq!(origin("policy.rule.debug.probability"), Origin::Set);
    assert_eq!(origin("limits.steps"), Origin::File);
    assert_eq!(origin("policy.rule.drafts.probability"), Origin::Unset);
    assert_eq!(origin("operators.draft.memory.scope"), Origin::File);
    assert_eq!(origin("operators.draft.complexity_cue"), Origin::Default);
    assert_eq!(origin("validation.holdout.search"), Origin::Default);
    let again = Scaffold::load(&scaffold.to_toml(), prompts(), &[]).unwrap();
    assert_eq!(again.spec(), scaffold.spec());
}

#[test]
fn the_resolved_values_of_aide() {
    let text: Vec<String> =
        aide(&[]).values().iter().map(|value| format!("{} = {}", value.path, value.value)).collect();
    insta::assert_snapshot!(text.join("\n"));
}

#[test]
fn what_each_tree_search_is_put_together_from() {
    let mut text = String::new();
    for (id, _) in TREE_SEARCHES {
        let _ = writeln!(text, "{id}");
        for (part, words) in scaffold(id, &[]).composition() {
            let _ = writeln!(text, "  {part}: {words}");
        }
    }
    insta::assert_snapshot!(text);
}

#[test]
fn wrong_numbers_of_policies_are_told() {
    let own = ("repair.operator", "improve");
    let cases: [(&str, (&str, &str)); 13] = [
        ("aira-mcts", ("policy.children", "0")),
        ("aira-mcts", ("policy.exploration", "-1")),
        ("aira-mcts", ("policy.improve", "imrpove")),
        ("aira-mcts", own),
        ("aira-evo", own),
        ("aira-evo", ("policy.crossover_probability", "1.5")),
        ("aira-evo", ("policy.temperature.end", "0")),
        ("aira-evo", ("policy.reset_every", "0")),
        ("best-first", ("policy.tolerance", "-0.1")),
        ("best-first", ("policy.drafts", "0")),
        ("ml-master", ("policy.exploration.floor", "2")),
        ("ml-master", ("policy.exploration.falls_at", "1.1")),
        ("random", ("policy.draft_probability", "2")),
    ];
    let mut text = String::new();
    for (id, set) in cases {
        let (_, file) = TREE_SEARCHES.iter().find(|(name, _)| *name == id).unwrap();
        let _ = writeln!(text, "{id}, {} = {}: {}", set.0, set.1, error(file, &[set]));
    }
    insta::assert_snapshot!(text);
}

#[test]
fn wrong_files_say_where_and_what() {
    let messages = [
        error(&AIDE.replace("tries = 3", "tirs = 3"), &[]),
        error(&AIDE.replace("when = \"no_good\"", "when = \"no_god\""), &[]),
        error(&AIDE.replace("\"24h\"", "\"24 hours\""), &[]),
        error(&AIDE.replace("steps = 20", "steps = "), &[]),
        error(&AIDE.replace("k_fold = 5\n", ""), &[]),
        error(&AIDE.replace("operator = \"improve\"", "operator = \"improv\""), &[]),
        error(&AIDE.replace("number = 5\n", ""), &[]),
        error(&AIDE.replace("name = \"restart\"", "name = \"debug\""), &[]),
        error(&AIDE.replace("aide/draft.md.tera", "aide/drafts.md.tera"), &[]),
        error(AIDE, &[("policy.rule.debug.probabilty", "1")]),
        error(AIDE, &[("limit.steps", "3")]),
        error(AIDE, &[("limits", "3")]),
        error(AIDE, &[("limits.steps", "many")]),
        error(AIDE, &[("limits.steps", "0")]),
        error(AIDE, &[("policy.rule.debug.probability", "1.5")]),
        error(AIDE, &[("evaluation.review.role", "feedbak")]),
    ];
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn a_template_may_not_ask_for_what_nobody_sets() {
    let mut templates = prompts();
    templates.get_mut("aide/task.md.tera").unwrap().push_str("{{ descripton }}");
    let error = Scaffold::load(AIDE, templates, &[]).unwrap_err();
    let SpecError::Prompt { message, .. } = &error else { panic!("{error}") };
    let told = "in `aide/task.md.tera`, line 7: nothing sets the variable `descripton`; nearest: `description`; there are: ";
    assert!(message.starts_with(told) && message.contains(" description, direction, "), "{message}");
}

#[test]
fn a_wrong_template_is_one_sentence_with_its_line() {
    let wrong = [
        "\n\n{% if %}",
        "{{ broken",
        "{% if metric %}",
        "{{ metric | fense }}",
        "{% include \"aide/rnu.md.tera\" %}",
        "{% include \"aide/task.md.tera\" %}",
        "{{ metric }",
        "{% endfor %}",
        "{% extends \"aide/rnu.md.tera\" %}",
        "{{ 'one\ntwo }}",
    ];
    let messages = wrong.map(|text| {
        let mut templates = prompts();
        templates.insert("aide/task.md.tera".into(), text.into());
        let message = Scaffold::load(AIDE, templates, &[]).map(|_| ()).unwrap_err().to_string();
        assert!(!message.contains('\n') && message.starts_with("prompt `aide/task.md.tera`: "), "{message}");
        message
    });
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn a_wrong_template_is_the_fault_of_those_who_use_it() {
    let broken = |name: &str| {
        let mut templates = prompts();
        templates.insert(name.into(), "{% if %}".into());
        templates.insert("other/too.md.tera".into(), "{{ 1 | no_such_filter }}".into());
        templates
    };
    let loads =
        |templates| Scaffold::load(AIDE, templates, &[]).map(|_| ()).map_err(|error| error.to_string());
    assert_eq!(loads(broken("other/draft.md.tera")), Ok(()), "nothing of it is used");
    // One that others include: named itself, and not they.
    for name in ["aide/draft.md.tera", "aide/task.md.tera"] {
        let told = loads(broken(name)).unwrap_err();
        assert!(told.starts_with(&format!("prompt `{name}`: line 1: ")), "{told}");
        let faults = podium_scaffold::spec::faults(&Registry::shipped(), AIDE, &broken(name));
        assert_eq!(faults.iter().map(ToString::to_string).collect::<Vec<_>>(), [told]);
    }
}

#[test]
fn every_number_is_in_the_file() {
    // Each required number taken away is missed: none has a default in Rust.
    for line in AIDE.lines().filter(|line| line.contains(" = ") && !line.contains('{')) {
        let key = line.split(" = ").next().unwrap();
        // The first three may be left out, and the switch is on unless it is off.
        if matches!(key, "temperature" | "max_output_tokens" | "probability" | "submission_check") {
            continue;
        }
        let shorter = AIDE.replacen(&format!("{line}\n"), "", 1);
        assert!(Scaffold::load(&shorter, prompts(), &[]).is_err(), "{line}");
    }
}

/// A run is known by what it keeps, so that what lies beside a scaffold must not change it.
#[test]
fn a_scaffold_keeps_its_own_prompts_alone() {
    for (id, file) in shipped::files("scaffolds", ".toml") {
        let alone = Scaffold::load(&file, prompts(), &[]).unwrap();
        let mut more = prompts();
        more.insert("another/draft.md.tera".to_owned(), "{% include \"another/part.md.tera\" %}".to_owned());
        more.insert("another/part.md.tera".to_owned(), "text".to_owned());
        let beside = Scaffold::load(&file, more, &[]).unwrap();
        assert_eq!(alone.prompts(), beside.prompts(), "{id}");
        // They are enough: what a resume reads.
        let again = Scaffold::load(&alone.to_toml(), alone.prompts().clone(), &[]).unwrap();
        assert_eq!(again.prompts(), alone.prompts(), "{id}");
        assert!(alone.prompts().len() < prompts().len() / 2, "{id}: {:?}", alone.prompts().keys());
    }
}
