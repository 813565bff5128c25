//! Podium: llm.
