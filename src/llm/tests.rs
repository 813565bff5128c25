//! Tests of the whole client.
