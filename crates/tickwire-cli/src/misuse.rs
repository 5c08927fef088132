//! A command line that makes no sense, where the parser cannot see it.
//!
//! It is an error like others on its way up, and ends the command with 2 instead of 1.

use std::fmt;

/// What is wrong, and what to write instead.
#[derive(Debug)]
pub(crate) struct Misuse(pub(crate) String);

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Misuse {}
