//! A run: one scaffold × models × competition × seed.
//!
//! - [`alone`]: one script in the sandbox without a run; [`ladder`]: the board of an own competition made so
//! - [`attempts`]: what code tried on its sandbox
//! - [`course`]: what would have been handed in over time, graded after the end
//! - [`sessions`]: what the shells and kernels of a loop came to
//! - [`command`]: agents that are programs of their own, and how they ask models
//! - [`config`]: the resolved configuration, whose hash is the run's identity
//! - [`oracle`]: all nodes of an ended run graded, for people only
//! - [`order`]: what a user asks for, resolved into it
//! - [`provenance`]: with what a run was made, as its lock file holds it
//! - [`predict`]: the best solution of a run on new rows
//! - [`recording`]: recorded runs as models
//! - [`wording`]: which description of its competition an agent is shown
//! - [`validation`]: the training labels that a run keeps
//! - [`batch`]: a list of submissions graded at once
//! - [`grants`]: what one execution is to be granted; [`preset`]: machines by name; [`machine`]: how much memory there is
//! - [`resources`]: what a run holds of the machine, and what is really in force
//! - [`scaffold_file`]: a scaffold by the path of its file, and what lies beside it
//! - [`site`]: what the machine gives, and the equipment made from it
//! - [`models`]: what is known of models, the user's own file included
//! - [`sitting`]: begin, resume, replay
//! - [`driver`]: polls the strategy and releases results in journal order; resume and replay are the same loop
//! - [`context`]: the strategy's side of it
//! - [`journal`]: the durable record
//! - [`folder`]: the run's files, content store and lock
//! - [`world`]: models, sandbox, competition and files behind the driver
//! - [`summary`]: grading after the end, and the run report
//! - [`tally`], [`limits`], [`spending`], [`clock`]: budget as a function of the journal, and caps that hold in flight
//! - [`events`]: the one stream that leaves a run; `mirror` keeps it as a file on network file systems
//! - [`external`]: strategies in other languages
//! - [`stop`]: how a run ends
//! - [`story`](mod@story): a run as plain data, for pages and viewers
//!
//! Must not know: how anything is printed.

pub mod alone;
pub mod attempts;
pub mod batch;
pub mod clock;
pub mod command;
pub mod config;
pub mod context;
pub mod course;
mod difference;
pub mod driver;
pub mod error;
pub mod events;
pub mod external;
pub mod failpoint;
pub mod folder;
pub mod grants;
pub mod journal;
pub mod ladder;
pub mod limits;
pub mod machine;
mod mirror;
pub mod models;
pub mod oracle;
pub mod order;
pub(crate) mod own_files;
pub mod own_program;
pub mod own_scaffold;
pub mod predict;
pub mod preset;
pub mod provenance;
pub mod recording;
pub mod resources;
pub mod scaffold_file;
pub mod sessions;
pub mod site;
pub mod sitting;
pub mod spending;
pub mod stop;
pub mod story;
pub mod strategies;
pub mod summary;
pub mod tally;
pub mod validation;
pub mod wording;
pub mod world;
