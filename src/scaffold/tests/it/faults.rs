//! All faults of a scaffold at once, on what ships (which has none) and on parts of a user's own.

use podium_scaffold::prelude::*;
use podium_scaffold::spec::faults;
use serde::{Deserialize, Serialize};

use crate::support::{AIDE, prompts};

#[test]
fn what_ships_has_none() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scaffolds");
    #[expect(clippy::disallowed_methods, reason = "a test looks at the repository, not at a run")]
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(faults(&Registry::shipped(), &text, &prompts()), [], "{}", path.display());
    }
}

/// What a policy can be here.
fn kinds() -> String {
    let kinds = "`best_first`, `drafts`, `evolution`, `mcts`, `ml_master`, `random`, `rules`";
    format!("there are {kinds}; a program of your own may have more (docs/guide.md)")
}

/// A policy that drafts for ever.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Drafts {
    operator: String,
}

impl Plan for Drafts {
    fn check(&self) -> Result<(), SpecError> {
        Ok(())
    }

    fn operators(&self) -> Vec<OperatorUse<'_>> {
        OperatorUse::of_policy([("operator", &self.operator)])
    }

    fn policy(&self) -> Box<dyn Policy> {
        Box::new(self.clone())
    }
}

impl Policy for Drafts {
    fn ask(&mut self, _: &View<'_>, _: &mut Rng) -> Ask {
        Ask::Expand(Expansion { operator: self.operator.clone(), parents: vec![], reason: "always".into() })
    }
}

#[test]
fn a_policy_of_ones_own_is_read_and_checked_like_the_shipped() {
    let registry = Registry::shipped().with_policy::<Drafts>("drafts");
    let (before, rest) = AIDE.split_once("[policy]\n").unwrap();
    let (rules, after) = rest.split_once("[operators.draft]").unwrap();
    let with = |policy: &str| format!("{before}[policy]\n{policy}\n[operators.draft]{after}");
    let told =
        |text: &str| faults(&registry, text, &prompts()).iter().map(ToString::to_string).collect::<Vec<_>>();
    let line = before.lines().count() + 1;
    let cases: [(&str, Vec<String>); 6] = [
        ("kind = \"drafts\"\noperator = \"draft\"", vec![]),
        (rules, vec![]),
        (
            "kind = \"darfts\"\noperator = \"draft\"",
            vec![format!("line {}: unknown key or word `darfts`; nearest: `drafts`; {}", line + 1, kinds())],
        ),
        (
            "kind = \"drafts\"\noperatr = \"dratf\"",
            vec![
                format!("line {}: unknown key or word `operatr`; nearest: `operator`", line + 2),
                "policy.operator: there is no operator `dratf`; nearest: `draft`".into(),
            ],
        ),
        ("kind = \"drafts\"", vec![format!("line {line}: missing field `operator`")]),
        ("operator = \"draft\"", vec![format!("line {line}: missing field `kind`")]),
    ];
    for (policy, expected) in cases {
        assert_eq!(told(&with(policy)), expected, "{policy}");
    }
    let text = with("kind = \"drafts\"\noperator = \"draft\"");
    let scaffold = podium_scaffold::Scaffold::load_with(
        &registry,
        &text,
        prompts(),
        &[("policy.operator".into(), "improve".into())],
    )
    .unwrap();
    assert_eq!(scaffold.spec()["policy"], serde_json::json!({"kind": "drafts", "operator": "improve"}));
    let wrong = [("policy.operator", "3"), ("policy.kind", "mtcs")].map(|(path, value)| {
        let set = [(path.to_owned(), value.to_owned())];
        let loaded = podium_scaffold::Scaffold::load_with(&registry, &text, prompts(), &set);
        loaded.map(|_| ()).unwrap_err().to_string()
    });
    assert!(wrong[0].starts_with("--set policy.operator=3: invalid type"), "{}", wrong[0]);
    let expected = format!("--set policy.kind=mtcs: there is no such kind; nearest: `mcts`; {}", kinds());
    assert_eq!(wrong[1], expected);
    // One that is like none of them is told the same.
    let restless = told(&with("kind = \"restless\""));
    assert_eq!(restless, [format!("line {}: unknown key or word `restless`; {}", line + 1, kinds())]);
}
