//! Who may come in: a ticket that somebody issued and the server checks, before any session hears of
//! the peer.
//!
//! A ticket of [`TicketIssuer`] holds when it expires, a number that is used once, and the signature
//! (HMAC-SHA256) of whoever has the secret: the server itself, or a lobby beside it. Another way to
//! check is a [`CheckTicket`] of one's own.
//!
//! ```text
//! expires  u64   seconds since 1970, big-endian
//! number   [16]  random
//! tag      [32]  HMAC-SHA256 of the 24 bytes before
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ring::hmac;

use crate::limits::TICKETS_USED;

/// Decides whether a peer comes in, by the bytes that it brought.
pub trait CheckTicket: fmt::Debug + Send {
    /// Whether this ticket is good, now. A ticket may be checked only once.
    ///
    /// # Errors
    /// Why it is not; the peer is told.
    fn check(&mut self, ticket: &[u8]) -> Result<(), TicketError>;
}

/// Why a ticket is refused.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum TicketError {
    /// There is none, and one is needed.
    Missing,
    /// Nobody who has the secret made it.
    Forged,
    /// Its time is over.
    Expired,
    /// Somebody came in with it.
    Used,
    /// So many tickets are in use that no other can be remembered.
    Busy,
    /// Something that another kind of checker found.
    Other(String),
}

impl fmt::Display for TicketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "this server asks for a ticket",
            Self::Forged => "the ticket is not of this server",
            Self::Expired => "the ticket has expired",
            Self::Used => "the ticket was used before",
            Self::Busy => "too many tickets are in use, try again later",
            Self::Other(reason) => reason,
        })
    }
}

impl std::error::Error for TicketError {}

/// Issues tickets, and checks those that it, or another with the same secret, issued.
///
/// That a ticket was used is forgotten when the server restarts: it should expire soon.
pub struct TicketIssuer {
    key: hmac::Key,
    /// Numbers of tickets that were used and have not expired.
    used: BTreeSet<Number>,
    /// The same by when they expire.
    by_expiry: BTreeMap<u64, Vec<Number>>,
}

type Number = [u8; 16];

const SIGNED: usize = 8 + size_of::<Number>();
const TICKET: usize = SIGNED + 32;

impl TicketIssuer {
    /// Issuer and checker share a secret, as from [`Identity::derive`](super::Identity::derive).
    pub fn new(secret: &[u8; 32]) -> Self {
        Self {
            key: hmac::Key::new(hmac::HMAC_SHA256, secret),
            used: BTreeSet::new(),
            by_expiry: BTreeMap::new(),
        }
    }

    /// A ticket that is good once, for so long.
    ///
    /// # Errors
    /// If the system has no randomness.
    pub fn issue(&self, lifetime: Duration) -> io::Result<Vec<u8>> {
        let mut number = Number::default();
        getrandom::fill(&mut number).map_err(io::Error::other)?;
        Ok(self.sign(unix_seconds(SystemTime::now() + lifetime), number))
    }

    fn sign(&self, expires: u64, number: Number) -> Vec<u8> {
        let mut ticket = expires.to_be_bytes().to_vec();
        ticket.extend(number);
        let tag = hmac::sign(&self.key, &ticket);
        ticket.extend(tag.as_ref());
        ticket
    }

    fn check_at(&mut self, now: u64, ticket: &[u8]) -> Result<(), TicketError> {
        if ticket.is_empty() {
            return Err(TicketError::Missing);
        }
        let ticket: &[u8; TICKET] = ticket.try_into().map_err(|_| TicketError::Forged)?;
        let (signed, tag) = ticket.split_at(SIGNED);
        // In constant time, and before anything is believed that the ticket says.
        hmac::verify(&self.key, signed, tag).map_err(|_| TicketError::Forged)?;
        let (expires, number) = signed.split_at(8);
        let expires = u64::from_be_bytes(expires.try_into().map_err(|_| TicketError::Forged)?);
        let number = Number::try_from(number).map_err(|_| TicketError::Forged)?;
        if expires <= now {
            return Err(TicketError::Expired);
        }
        self.forget_expired(now);
        if self.used.contains(&number) {
            return Err(TicketError::Used);
        }
        if self.used.len() >= TICKETS_USED {
            return Err(TicketError::Busy);
        }
        self.used.insert(number);
        self.by_expiry.entry(expires).or_default().push(number);
        Ok(())
    }

    fn forget_expired(&mut self, now: u64) {
        while let Some(entry) = self.by_expiry.first_entry()
            && *entry.key() <= now
        {
            for number in entry.remove() {
                self.used.remove(&number);
            }
        }
    }
}

impl CheckTicket for TicketIssuer {
    fn check(&mut self, ticket: &[u8]) -> Result<(), TicketError> {
        self.check_at(unix_seconds(SystemTime::now()), ticket)
    }
}

/// The secret stays out of logs.
impl fmt::Debug for TicketIssuer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TicketIssuer")
            .field("used", &self.used.len())
            .finish_non_exhaustive()
    }
}

fn unix_seconds(time: SystemTime) -> u64 {
    // A clock before 1970 makes every ticket good, as far as time goes; there is no better guess.
    time.duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_000;

    fn issuer() -> TicketIssuer {
        TicketIssuer::new(&[7; 32])
    }

    #[test]
    fn a_ticket_is_good_once_and_until_it_expires() {
        let mut checker = issuer();
        let ticket = issuer().sign(NOW + 10, [1; 16]);
        assert_eq!(checker.check_at(NOW, &ticket), Ok(()));
        assert_eq!(checker.check_at(NOW, &ticket), Err(TicketError::Used));
        assert_eq!(checker.check_at(NOW + 9, &ticket), Err(TicketError::Used));
        assert_eq!(
            checker.check_at(NOW + 10, &ticket),
            Err(TicketError::Expired)
        );
        // What has expired is no longer remembered.
        let other = issuer().sign(NOW + 100, [2; 16]);
        assert_eq!(checker.check_at(NOW + 10, &other), Ok(()));
        assert_eq!(checker.used.len(), 1);
        assert_eq!(checker.by_expiry.len(), 1);
    }

    #[test]
    fn an_issued_ticket_is_good_now() {
        let mut checker = issuer();
        let ticket = issuer().issue(Duration::from_secs(60)).unwrap();
        assert_eq!(checker.check(&ticket), Ok(()));
        assert_eq!(checker.check(&[]), Err(TicketError::Missing));
        let ticket = issuer().issue(Duration::ZERO).unwrap();
        assert_eq!(checker.check(&ticket), Err(TicketError::Expired));
    }

    #[test]
    fn every_flipped_bit_is_refused() {
        let mut checker = issuer();
        let ticket = issuer().sign(NOW + 10, [1; 16]);
        for bit in 0..8 * ticket.len() {
            let mut altered = ticket.clone();
            altered[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(checker.check_at(NOW, &altered), Err(TicketError::Forged));
        }
        for length in 1..ticket.len() {
            let cut = &ticket[..length];
            assert_eq!(checker.check_at(NOW, cut), Err(TicketError::Forged));
        }
        let stranger = TicketIssuer::new(&[8; 32]).sign(NOW + 10, [1; 16]);
        assert_eq!(checker.check_at(NOW, &stranger), Err(TicketError::Forged));
        assert_eq!(checker.check_at(NOW, &ticket), Ok(()));
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut checker = issuer();
        for number in 0..TICKETS_USED {
            let mut unique = Number::default();
            unique[..8].copy_from_slice(&number.to_be_bytes());
            checker.used.insert(unique);
        }
        let ticket = issuer().sign(NOW + 10, [0xff; 16]);
        assert_eq!(checker.check_at(NOW, &ticket), Err(TicketError::Busy));
    }
}
