//! AIRA's evolution: generations, islands, draws by softmax, and the reset of the weaker islands.

use podium_scaffold::context::Direction;

use super::{Hand, text, wish};

const UNREPAIRED: (&str, &str) = ("repair.max_depth", "0");
const CROSS: (&str, &str) = ("policy.crossover_probability", "1");
const ALONE: (&str, &str) = ("policy.crossover_probability", "0");
/// As good as greedy: the better of two is taken.
const COLD: [(&str, &str); 2] = [("policy.temperature.start", "0.001"), ("policy.temperature.end", "0.001")];

fn hand(more: &[(&str, &str)]) -> Hand {
    let overrides: Vec<(&str, &str)> = [UNREPAIRED].iter().chain(more).copied().collect();
    Hand::new("aira-evo", &overrides)
}

/// How often each wish comes up over many seeds.
fn share(hand: &mut Hand, wanted: impl Fn(&str) -> bool) -> f64 {
    let mut hits = 0u32;
    for seed in 0..4_000 {
        hand.seed = seed;
        hits += u32::from(wanted(&text(&hand.wants())));
    }
    f64::from(hits) / 4_000.0
}

#[test]
fn drafts_then_improvements_then_crossovers() {
    let mut hand = hand(&[CROSS]);
    assert_eq!(hand.steps(&[0.1, 0.2, 0.3, 0.4, 0.5].map(Some)), ["draft"; 5]);
    let second = hand.steps(&[0.5; 5].map(Some));
    assert!(second.iter().all(|wish| wish.starts_with("improve ")), "{second:?}");
    let third = hand.steps(&[0.5; 5].map(Some));
    assert!(
        third.iter().all(|wish| wish.starts_with("crossover ") && wish.matches(' ').count() == 2),
        "{third:?}"
    );
}

#[test]
fn a_barrier_waits_for_the_generation_and_steady_state_does_not() {
    for (barrier, expected) in [("true", "wait"), ("false", "improve")] {
        let mut hand = hand(&[("policy.barrier", barrier), ALONE]);
        hand.steps(&[Some(0.5); 4]);
        assert_eq!(hand.begin(), wish("draft", &[]));
        assert_eq!(hand.wants().0, expected);
        hand.finish(4, Some(0.4));
        assert_eq!(hand.begin().0, "improve");
    }
}

#[test]
fn parents_are_drawn_by_softmax() {
    // Metrics scaled to 0, 0.5 and 1 at temperature 0.5: weights 1, e, e².
    let temperature = [("policy.temperature.start", "0.5"), ("policy.temperature.end", "0.5")];
    let three = ("policy.generation", "3");
    let e = std::f64::consts::E;
    for direction in [Direction::Lower, Direction::Higher] {
        let mut alone = hand(&[ALONE, three, temperature[0], temperature[1]]);
        alone.direction = direction;
        // Told from the worst to the best: a child worse than the mean would not stay.
        let metrics = if direction == Direction::Higher { [0.2, 0.3, 0.4] } else { [0.4, 0.3, 0.2] };
        alone.steps(&metrics.map(Some));
        for (id, weight) in [("improve 0", 1.0), ("improve 1", e), ("improve 2", e * e)] {
            let expected = weight / (1.0 + e + e * e);
            // Four standard errors of a share of 4,000 draws.
            assert!((share(&mut alone, |wish| wish == id) - expected).abs() < 0.032, "{id} {direction}");
        }
    }
    let mut both = hand(&[CROSS, three, temperature[0], temperature[1], ("policy.crossover_from", "1")]);
    both.steps(&[0.2, 0.3, 0.4].map(Some));
    let expected = e * e / (1.0 + e + e * e) * (e / (1.0 + e));
    assert!((share(&mut both, |wish| wish == "crossover 2 1") - expected).abs() < 0.032);
    assert!(share(&mut both, |wish| wish == "crossover 2 2") < f64::EPSILON, "two different parents");
}

#[test]
fn the_coin_and_the_schedule_of_temperature() {
    let mut coin = hand(&[("policy.crossover_probability", "0.3"), ("policy.crossover_from", "1")]);
    coin.steps(&[0.1, 0.2, 0.3, 0.4, 0.5].map(Some));
    assert!((share(&mut coin, |wish| wish.starts_with("crossover")) - 0.3).abs() < 0.03);
    let mut cooling =
        hand(&[ALONE, ("policy.temperature.start", "1000"), ("policy.temperature.end", "0.001")]);
    cooling.steps(&[0.1, 0.2, 0.3, 0.4, 0.5].map(Some));
    cooling.budget.steps = 0;
    assert!((share(&mut cooling, |wish| wish == "improve 4") - 0.2).abs() < 0.03, "anyone at first");
    cooling.budget.steps = 500;
    assert!(share(&mut cooling, |wish| wish == "improve 4") > 0.999, "the best at last");
}

#[test]
fn an_island_too_small_for_a_crossover_improves() {
    // The original fails when all islands are too small.
    let mut hand = hand(&[CROSS, ("policy.crossover_from", "1")]);
    hand.steps(&[None, Some(0.3), None, None, None]);
    assert_eq!(hand.wants(), wish("improve", &[1]));
}

#[test]
fn nothing_good_leads_to_drafts() {
    let mut hand = hand(&[]);
    assert_eq!(hand.steps(&[None; 12]), ["draft"; 12]);
}

#[test]
fn children_below_the_mean_do_not_stay_and_the_worst_goes() {
    let mut hand = hand(&[ALONE, ("policy.generation", "2"), ("policy.max_members", "3")]);
    hand.steps(&[Some(0.2), Some(0.4)]);
    hand.steps(&[Some(0.29), Some(0.31)]);
    let bred = |hand: &mut Hand, id: u32| share(hand, |wish| wish == format!("improve {id}")) > 0.0;
    assert_eq!(
        [0, 1, 2, 3].map(|id| bred(&mut hand, id)),
        [true, true, false, true],
        "0.29 is below the mean"
    );
    hand.steps(&[Some(0.5)]);
    assert_eq!([0, 1, 3, 4].map(|id| bred(&mut hand, id)), [false, true, true, true], "0.2 had to go");
}

#[test]
fn the_reset_weakens_the_weak_and_never_the_strong() {
    // Four islands, drafts in turn: node n on island n % 4. Island 3 is the best in both directions.
    for direction in [Direction::Lower, Direction::Higher] {
        let better = |metric: f64| Some(if direction == Direction::Higher { metric } else { 1.0 - metric });
        let overrides = [
            ALONE,
            UNREPAIRED,
            ("policy.islands", "4"),
            ("policy.generation", "8"),
            ("policy.reset_every", "1"),
        ];
        let mut hand = Hand::new("aira-evo", &overrides);
        hand.direction = direction;
        let metrics = [0.1, 0.5, 0.2, 0.6, 0.11, 0.51, 0.21, 0.61];
        let drafts = hand.steps(&metrics.map(better));
        assert_eq!(drafts, ["draft"; 8]);
        // Islands by their best: 3 (nodes 3, 7), 1 (1, 5), 2 (2, 6), 0 (0, 4). The weaker two keep their best, 6 and
        // 4, and get the second best of the stronger two: 3 moves to island 2, 1 to island 0; 2 and 0 are gone.
        let home = |hand: &mut Hand, id: u32| {
            (0..3_000).find_map(|seed| {
                hand.seed = seed;
                match hand.look() {
                    podium_scaffold::tree_search::policy::Ask::Expand(expansion)
                        if expansion.parents == [id] =>
                    {
                        expansion.reason.split("island ").nth(1).map(str::to_owned)
                    }
                    _ => None,
                }
            })
        };
        let homes: Vec<Option<String>> = (0..8).map(|id| home(&mut hand, id)).collect();
        let expected = [None, Some("1"), None, Some("3"), Some("1"), Some("2"), Some("3"), Some("4")];
        let expected: Vec<Option<String>> =
            expected.into_iter().map(|island| island.map(str::to_owned)).collect();
        assert_eq!(homes, expected, "{direction}");
    }
}

#[test]
fn fit_islands_breed_more() {
    let overrides =
        [ALONE, UNREPAIRED, ("policy.islands", "2"), ("policy.generation", "2"), COLD[0], COLD[1]];
    let mut hand = Hand::new("aira-evo", &overrides);
    hand.steps(&[Some(0.1), Some(0.9)]);
    assert!(share(&mut hand, |wish| wish == "improve 1") > 0.999);
    let mut hand = Hand::new("aira-evo", &overrides[..4]);
    hand.steps(&[Some(0.1), Some(0.9)]);
    let e = std::f64::consts::E;
    assert!((share(&mut hand, |wish| wish == "improve 1") - e / (1.0 + e)).abs() < 0.03);
}

#[test]
fn repairs_are_no_members_of_a_generation() {
    let mut hand = Hand::new("aira-evo", &[ALONE]);
    let course = hand.steps(&[None, None, Some(0.5), Some(0.4), Some(0.3), Some(0.2), Some(0.1)]);
    assert_eq!(course, ["draft", "debug 0", "debug 1", "draft", "draft", "draft", "draft"]);
    let mut cold = Hand::new("aira-evo", &[ALONE, COLD[0], COLD[1]]);
    cold.steps(&[None, None, Some(0.5), Some(0.4), Some(0.3), Some(0.2), Some(0.1)]);
    assert_eq!(cold.wants(), wish("improve", &[2]), "what the chain came to is the member");
}
