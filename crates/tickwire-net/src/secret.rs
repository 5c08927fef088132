//! Secrets from the operating system, for sessions that have none of their own.

use std::io;

/// Bytes that nobody can guess: what a server's tokens are made from.
///
/// # Errors
/// If the system has no source of randomness.
pub fn secret() -> io::Result<[u8; 32]> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_secrets_differ() {
        assert_ne!(secret().unwrap(), secret().unwrap());
    }
}
