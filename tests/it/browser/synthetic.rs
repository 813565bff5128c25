//! Runs that nobody ran: large ones, loops, and one whose every text is hostile.

use podium_report::story::{Call, Detail, Ending, Execution, Fact, Grade, Item, Signal, Story, Unit};
use podium_types::direction::Direction;
use podium_types::log::{Line, LineKind};
use podium_types::number::Number;
use podium_types::rng::Rng;
use podium_types::sha256::Sha256;
use podium_types::verdict::Verdict;

/// Markup, scripts, direction marks and control characters.
const HOSTILE: &str = "</script><script>window.hit = 1</script><img src=x onerror='window.hit = 2'><b>bold</b> \
    <!-- <script> {{data}} \u{202e}backwards\u{202c} zero\u{200b}width \u{7}\u{1b}[31m javascript:window.hit=3";

fn story(unit: Unit, items: Vec<Item>) -> Story {
    let last = items.last();
    Story {
        title: "synthetic on nothing".to_owned(),
        run: "synthetic-1".to_owned(),
        unit,
        metric: "log_loss".to_owned(),
        direction: Direction::Lower,
        facts: vec![Fact::new("model, code", "playbook/default"), Fact::new("seed", "1")],
        ending: Some(Ending {
            outcome: "graded".to_owned(),
            stopped_by: "steps".to_owned(),
            detail: "step limit reached".to_owned(),
        }),
        grade: None,
        run_ms: last.map_or(0, |item| item.at_ms),
        cost: last.map_or(Some(0.0), |item| item.spent),
        selected: None,
        warnings: vec!["nobody ran this".to_owned()],
        notes: Vec::new(),
        left_out: None,
        items,
    }
}

fn item(id: u32) -> Item {
    Item {
        id,
        parents: Vec::new(),
        operator: "draft".to_owned(),
        metric: None,
        good: true,
        valid: true,
        at_ms: u64::from(id) * 40_000,
        spent: Some(f64::from(id) * 0.04),
        detail: Detail {
            plan: format!("The plan of {id}."),
            submission: Some(Verdict::Valid { sha256: Sha256::of(b""), copies_sample: false }),
            executions: vec![Execution {
                key: format!("node/{id}/execute/0"),
                ended: "exit code 0".to_owned(),
                well: true,
                wall_ms: 1500,
                output: format!("epoch {id}\n").repeat(40),
                ..Execution::default()
            }],
            cost: Some(0.04),
            ..Detail::default()
        },
    }
}

/// A search tree of so many nodes: drafts, repairs, improvements of the best, crossovers.
pub(super) fn tree(nodes: u32) -> Story {
    let mut rng = Rng::new(11);
    let mut items: Vec<Item> = Vec::new();
    let mut good: Vec<(f64, u32)> = Vec::new();
    let mut broken: Vec<u32> = Vec::new();
    for id in 0..nodes {
        let mut one = item(id);
        let draw = rng.uniform();
        if id < 20 || draw < 0.03 || good.len() < 2 {
        } else if draw < 0.3 && !broken.is_empty() {
            "debug".clone_into(&mut one.operator);
            one.parents = broken.pop().into_iter().collect();
        } else if draw < 0.36 {
            "crossover".clone_into(&mut one.operator);
            one.parents = good.iter().take(2).map(|(_, id)| *id).collect();
        } else {
            "improve".clone_into(&mut one.operator);
            let among = if rng.uniform() < 0.8 { good.len().min(6) } else { good.len() };
            one.parents = vec![good[rng.below(among)].1];
        }
        let former = one.parents.first().and_then(|id| items[*id as usize].metric);
        one.good = rng.uniform() > 0.28;
        if one.good {
            let metric = former.map_or(0.6, |metric| metric.0) * (0.975 + 0.05 * rng.uniform());
            one.metric = Some(Number(metric));
            good.push((metric, id));
            good.sort_by(|one, other| one.0.total_cmp(&other.0));
        } else {
            broken.push(id);
            one.detail.buggy = Some("ValueError: of 3 things none fits".to_owned());
        }
        one.detail.code = format!("import numpy\n\nseed = {id}\n") + &"print(seed)  # a line\n".repeat(60);
        items.push(one);
    }
    let selected = good.first().map(|(_, id)| *id);
    let best = good.first().map_or(0.5, |(metric, _)| *metric);
    Story { selected, grade: Some(grade(best)), ..story(Unit::Node, items) }
}

fn grade(best: f64) -> Grade {
    let lines = [("gold", 1.3), ("silver", 1.8), ("bronze", 2.5), ("median", 6.0)];
    Grade {
        score: Some(Number(best * 1.2)),
        medal: Some("gold".to_owned()),
        lines: lines.map(|(name, factor)| (name.to_owned(), Number(best * factor))).to_vec(),
        board: "24 baselines".to_owned(),
        percentile: Some(98.0),
        reason: None,
        gap: Some(Number(best * 0.2)),
    }
}

/// A loop of so many steps. Every text in the log of each seventh is hostile.
pub(super) fn steps(count: u32) -> Story {
    let items = (0..count).map(|id| {
        let (good, text) = (id % 7 != 3, if id % 7 == 3 { HOSTILE } else { "a text\nof two lines" });
        let kinds = [
            LineKind::Condensed,
            LineKind::Said,
            LineKind::Plan,
            LineKind::Refused,
            LineKind::Act,
            LineKind::Seen,
            LineKind::Told,
            LineKind::Checked,
            LineKind::Harness,
        ];
        let log = kinds.map(|kind| Line::new(kind, if good { "Execute Script" } else { HOSTILE }, text));
        let log = log.map(|line| line.failed(!good)).to_vec();
        let mut item = Item { operator: "Execute Script".to_owned(), good, ..item(id) };
        item.detail.log = log;
        item
    });
    story(Unit::Step, items.collect())
}

/// Two nodes; every text of the second is hostile.
pub(super) fn hostile() -> Story {
    let text = || HOSTILE.to_owned();
    let first = item(0);
    let mut second = item(1);
    second.parents = vec![0];
    second.operator = text();
    second.metric = Some(Number(f64::INFINITY));
    second.detail = Detail {
        plan: text(),
        code: format!("# {HOSTILE}\nprint('''{HOSTILE}\n{HOSTILE}''')\n"),
        reason: text(),
        buggy: Some(text()),
        review: text(),
        signals: vec![Signal { source: text(), value: Number(f64::NAN), spread: Some(Number(0.1)) }],
        metric_source: Some(text()),
        flags: vec![text()],
        submission: Some(Verdict::Invalid { reason: text() }),
        executions: vec![Execution {
            key: text(),
            command: Some(text()),
            ended: text(),
            blocked: vec![text()],
            output: text(),
            ..Execution::default()
        }],
        calls: vec![Call {
            key: text(),
            role: text(),
            model: text(),
            messages: vec![(text(), text())],
            reasoning: Some(text()),
            answer: Some(text()),
            ..Call::default()
        }],
        folder: text(),
        ..Detail::default()
    };
    let mut first = first;
    "print(1)\n".clone_into(&mut first.detail.code);
    let told = story(Unit::Node, vec![first, second]);
    Story {
        title: text(),
        run: text(),
        metric: text(),
        facts: vec![Fact::new(HOSTILE, HOSTILE)],
        ending: Some(Ending { outcome: text(), stopped_by: text(), detail: text() }),
        grade: Some(Grade { board: text(), reason: Some(text()), medal: Some(text()), ..grade(0.1) }),
        selected: Some(1),
        warnings: vec![text()],
        notes: vec![text()],
        ..told
    }
}
