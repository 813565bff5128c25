//! The arguments of tools: what a tool takes, as its Rust type says it, and what a model wrote in their place.
//!
//! - [`schema`]: the parameters of a type, and their JSON Schema
//! - [`fit`]: from what a model wrote to what the type reads
//! - [`fault`]: what can be wrong with it

pub mod fault;
pub mod fit;
pub mod schema;

pub use fault::ArgumentFault;
pub use schema::{Kind, Parameter, Schema};
