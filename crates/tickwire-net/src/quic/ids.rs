//! The numbers by which a server's connections are named on the wire.
//!
//! In: the server's identity. Out: numbers that nobody can tell from random ones, and that this server, also after a
//! restart, recognises as its own: only such a number is answered with a reset. `quinn-proto` has the same with three
//! random bytes, too few: it does not look whether the number in a Retry is taken, and whoever is given somebody
//! else's never gets in. With a thousand players that is one newcomer in some thousand.

use std::time::Duration;

use quinn_proto::{ConnectionId, ConnectionIdGenerator, InvalidCid};
use ring::hmac;
use ring::rand::{SecureRandom as _, SystemRandom};

#[derive(Clone, Debug)]
pub(super) struct Ids {
    key: hmac::Key,
}

/// Random bytes: with a thousand connections, of some numbers each, a Retry meets one once in 200 million times.
const RANDOM: usize = 5;

/// Bytes that recognise a number. Of what strangers make up one in 16 million passes, which does no harm.
const SIGNATURE: usize = 3;

impl Ids {
    pub(super) fn new(secret: &[u8]) -> Self {
        Self {
            key: hmac::Key::new(hmac::HMAC_SHA256, secret),
        }
    }

    fn signature(&self, random: &[u8]) -> [u8; SIGNATURE] {
        let tag = hmac::sign(&self.key, random);
        let mut signature = [0; SIGNATURE];
        signature.copy_from_slice(&tag.as_ref()[..SIGNATURE]);
        signature
    }
}

impl ConnectionIdGenerator for Ids {
    fn generate_cid(&mut self) -> ConnectionId {
        let mut id = [0; RANDOM + SIGNATURE];
        let (random, signature) = id.split_at_mut(RANDOM);
        SystemRandom::new()
            .fill(random)
            .expect("a system without randomness has no keys, and so no connections");
        signature.copy_from_slice(&self.signature(random));
        ConnectionId::new(&id)
    }

    fn validate(&self, id: &ConnectionId) -> Result<(), InvalidCid> {
        match id.split_at_checked(RANDOM) {
            Some((random, signature)) if signature == self.signature(random) => Ok(()),
            _ => Err(InvalidCid),
        }
    }

    fn cid_len(&self) -> usize {
        RANDOM + SIGNATURE
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn own_numbers_are_recognised_after_a_restart_and_others_are_not() {
        let id = Ids::new(b"ours").generate_cid();
        let restarted = Ids::new(b"ours");
        assert!(restarted.validate(&id).is_ok());
        assert!(Ids::new(b"theirs").validate(&id).is_err());
        for length in 0..id.len() {
            assert!(
                restarted
                    .validate(&ConnectionId::new(&id[..length]))
                    .is_err()
            );
        }
        let mut altered = id.to_vec();
        altered[0] ^= 1;
        assert!(restarted.validate(&ConnectionId::new(&altered)).is_err());
    }

    /// Three random bytes would give some twelve of them twice.
    #[test]
    fn no_two_of_many_are_the_same() {
        let mut ids = Ids::new(b"ours");
        let many: BTreeSet<_> = (0..20_000).map(|_| ids.generate_cid().to_vec()).collect();
        assert_eq!(many.len(), 20_000);
    }
}
