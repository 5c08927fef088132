//! Tickets: how a player whose connection broke shows who it was.
//!
//! A ticket is a keyed hash of a counter, and the key is a secret of the server: it cannot be guessed. With
//! every Welcome comes another, and when the client has it the one before counts no more.

use core::hash::Hasher;

use siphasher::sip128::{Hasher128 as _, SipHasher24};
use tickwire_wire::DecodeError;

use crate::message::{Reader, Writer};

/// What a client shows when it comes back.
#[derive(Clone, Copy, Eq, Ord, PartialEq, PartialOrd)]
pub struct Ticket(u128);

impl Ticket {
    pub(crate) fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let (low, high) = (r.u64("ticket")?, r.u64("ticket")?);
        Ok(Self(u128::from(high) << 64 | u128::from(low)))
    }

    pub(crate) fn encode(self, w: &mut Writer<'_>) {
        w.bytes(&self.0.to_le_bytes());
    }
}

/// A ticket is a secret: it is not printed.
impl core::fmt::Debug for Ticket {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Ticket(…)")
    }
}

/// Makes tickets.
pub(crate) struct Tickets {
    secret: [u8; 16],
    issued: u64,
}

impl Tickets {
    /// The bytes must be a secret of this server, and new for every run. Those of attach tokens, which
    /// begin with the same bytes, are made by another function.
    pub(crate) fn new(secret: &[u8; 32]) -> Self {
        let (_, half) = secret.split_at(16);
        Self {
            secret: half.try_into().unwrap_or([0; 16]),
            issued: 0,
        }
    }

    pub(crate) fn next(&mut self) -> Ticket {
        self.issued += 1;
        let mut hasher = SipHasher24::new_with_key(&self.secret);
        hasher.write_u64(self.issued);
        Ticket(hasher.finish128().as_u128())
    }
}

impl core::fmt::Debug for Tickets {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Tickets")
            .field("issued", &self.issued)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_ticket_is_given_twice_and_another_server_gives_others() {
        let mut seen = BTreeSet::new();
        for secret in [[1; 32], [2; 32]] {
            let mut tickets = Tickets::new(&secret);
            assert!((0..1_000).all(|_| seen.insert(tickets.next())));
        }
    }

    #[test]
    fn a_ticket_is_not_printed() {
        let ticket = Tickets::new(&[1; 32]).next();
        assert_eq!(alloc::format!("{ticket:?}"), "Ticket(…)");
    }
}
