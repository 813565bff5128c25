//! Black-box tests of the scaffolds: the files as they ship, through the public entry.

#[cfg(test)]
mod ablate;
#[cfg(test)]
mod answers;
#[cfg(test)]
mod budget;
#[cfg(test)]
mod codeact;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod home;
#[cfg(test)]
mod judgement;
#[cfg(test)]
mod memory;
#[cfg(test)]
mod mlab;
#[cfg(test)]
mod numbers;
#[cfg(test)]
mod odd;
#[cfg(test)]
mod policies;
#[cfg(test)]
mod policy;
#[cfg(test)]
mod prompts;
#[cfg(test)]
mod registry;
#[cfg(test)]
mod search;
#[cfg(test)]
mod spec;
#[cfg(test)]
mod support;
#[cfg(test)]
mod validation;
