//! What all tests from outside share: the program with a clean environment, places of their own, runs read back.
//!
//! - [`place`]: temporary folders, the toy competition's assets, the Python to use
//! - [`bare`]: a Python with nothing beside it
//! - [`program`]: a `podium` command, waited for with a deadline, killed when asked
//! - [`run`]: what a run folder holds: journal, calls, tree, report
//! - [`reference`]: an uninterrupted run, and what must hold for one that was killed and resumed
//! - [`held`]: a model service that answers when the test says so
//! - [`kaggle`]: a stand-in for Kaggle's service and storage that behaves badly on demand
//! - [`viewer`]: `podium view`, asked over a bare connection; [`grown`]: a run made large, or hostile
//! - [`bundle`]: the bundle of an experiment, taken apart and changed
//! - [`leftovers`]: processes and control groups that a killed harness may have left
//! - [`wait`]: polling with a deadline; no test sleeps to wait for something
//! - [`need`]: what a machine must have for a test; a missing one is skipped loudly

#[path = "../../../src/sandbox/tests/shared/bare.rs"]
mod bare;
pub(crate) mod bundle;
pub(crate) mod grown;
pub(crate) mod held;
pub(crate) mod kaggle;
pub(crate) mod leftovers;
pub(crate) mod need;
pub(crate) mod place;
pub(crate) mod program;
pub(crate) mod reference;
pub(crate) mod run;
pub(crate) mod viewer;
pub(crate) mod wait;

pub(crate) use place::Place;
pub(crate) use program::{Finished, Podium, Running};
pub(crate) use run::Run;
