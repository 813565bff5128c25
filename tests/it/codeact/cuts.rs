//! `kill -9` right after the intent of an act of the shell: the act is not done again, the agent is told that it was cut,
//! and the run goes on to its end.

use crate::loops::kills::{Kept, codeact};
use crate::support::reference::in_parallel;
use crate::support::{Place, Podium, Run, need};

/// So many acts of a run are cut, each in a run of its own.
const CUTS: usize = 3;

#[test]
fn an_act_that_a_kill_cuts_is_told_and_not_done_again() {
    let test = "an_act_that_a_kill_cuts_is_told_and_not_done_again";
    if !need::jail(test) || !need::failpoints(test) {
        return;
    }
    let place = Place::new();
    let whole = place.path().join("whole");
    let report = codeact(&place, &whole).output().expect(0).json();
    assert_eq!(report["outcome"], "graded", "{report}");
    let acts: Vec<(u64, String)> = Run::only(&whole)
        .rows()
        .into_iter()
        .filter(|row| row.record().is_some_and(|record| record["effect"]["act"]["act"] == "send"))
        .map(|row| (row.seq, row.key.unwrap()))
        .collect();
    assert!(acts.len() >= CUTS, "{acts:?}");
    let cases: Vec<&(u64, String)> = acts.iter().step_by(acts.len() / CUTS).take(CUTS).collect();
    in_parallel(&cases, |(seq, key)| {
        let runs = place.path().join("cases").join(seq.to_string());
        let killed = codeact(&place, &runs).failpoint(&format!("after_intent:{seq}")).output();
        assert!(killed.was_killed(), "{killed:?}");
        let run = Run::only(&runs);
        let kept = Kept::by(&run);
        assert_eq!(kept.open(), std::slice::from_ref(key), "the act was about to be done");
        let report = Podium::resume(&place, &run.path).output().expect(0).json();
        assert_eq!(report["outcome"], "graded", "{report}");
        kept.stands(&run);
        let rows = run.rows();
        let result = rows.iter().find(|row| row.kind == "result" && row.key.as_ref() == Some(key)).unwrap();
        assert_eq!(result.record().unwrap()["result"]["result"], "interrupted");
        let shown = Podium::new(&place).arg("show").arg(&run.path).output().expect(0).stdout;
        for told in ["harness: resumed", "may be partial", "the harness was stopped"] {
            assert!(shown.contains(told), "{told}: {shown}");
        }
        let replay = Podium::new(&place).arg("replay").arg(&run.path).arg("--json").output().expect(0).json();
        assert_eq!(replay["agrees"], true);
    });
    let last = place.path().join("cases").join(cases.last().unwrap().0.to_string());
    crate::view::tells_what_the_page_tells(&place, &Run::only(&last));
}
