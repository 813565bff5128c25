//! The stand-in model through the whole client, and what is said before anything is spent.
