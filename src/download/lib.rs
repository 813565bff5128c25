//! The archives that Kaggle serves, one for each competition: whose account it is, what may be fetched, and the transfer
//! itself.
//!
//! A transfer is cut, throttled and killed as a matter of course, so it goes on where it stopped, waits longer after each
//! failure, and puts a file in its place only when it is whole and its checksum is right. The package knows no catalog
//! and no preparation: a competition is a name here. It reads no environment; variables are handed in.
//!
//! - [`credentials`]: where Kaggle's own tool finds them
//! - [`service`]: what is asked of Kaggle, and what its refusals mean
//! - [`transfer`]: one archive to one file
//! - `part`: the file that is under way; `patience`: how long to wait

pub mod credentials;
mod error;
mod part;
mod patience;
pub mod service;
mod sign_in;
pub mod transfer;

pub use credentials::{Credentials, SignIn};
pub use error::DownloadError;
pub use part::recorded_sum;
pub use service::{Offer, Service, Settings};
pub use transfer::{Fetched, Wanted, Watch};
