//! Attach tokens: which datagrams belong to which stream.
//!
//! A server hands a secret number to a peer over its stream; the peer shows it by datagram, and from
//! then on that address is the peer's. Whoever shows it has proved that it can receive, so it may be
//! sent more than it sends. Four rules make that safe:
//!
//! * A token cannot be guessed: it is a keyed hash of a counter, and the key is a secret of the server.
//! * It counts only from the host that the stream comes from. Somebody who overheard it cannot turn
//!   the datagrams away from its owner, or aim them at a third party.
//! * The newest address that showed it is the peer's: routers forget mappings, and peers move.
//! * Wrong tokens have a rate per host, above which a protocol does not answer them: the answers could be
//!   aimed at a third party. The right token always counts, so that nobody can use up another's rate.
//!   Showing one is a look-up: no hash is computed for it.

use alloc::collections::BTreeMap;
use core::fmt;
use core::hash::Hasher;
use core::time::Duration;

use siphasher::sip::SipHasher24;

use tickwire_wire::{display_enum, number_fields};

use crate::bucket::HostBuckets;
use crate::{Addr, Host, Instant};

/// Wrong tokens of one host that are answered at once: a LAN party whose server restarted, each of which
/// shows its old token a few times.
pub const WRONG_TOKENS: u32 = 256;

/// See [`WRONG_TOKENS`]: 64 a second follow.
pub const WRONG_TOKEN_REFILL: Duration = Duration::from_micros(15_625);

/// Hosts whose wrong tokens are counted; those of others are not answered meanwhile.
const WRONG_HOSTS_MAX: usize = 1_024;

/// What a peer shows.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Token(pub u64);

number_fields!(Token(u64));

/// The tokens of a server's peers, and the addresses that showed them. `P` is whatever the protocol
/// tells its peers apart by: usually the stream.
#[derive(Debug)]
pub struct Attachments<P> {
    tokens: Tokens,
    holders: BTreeMap<Token, P>,
    peers: BTreeMap<P, Attachment>,
    addrs: BTreeMap<Addr, P>,
    wrong: HostBuckets,
}

#[derive(Debug)]
struct Attachment {
    token: Token,
    /// Where the peer's stream comes from.
    host: Host,
    addr: Option<Addr>,
}

/// A token was accepted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Attached<P> {
    /// Whose it is.
    pub peer: P,
    /// Whether its datagrams went elsewhere before, or nowhere.
    pub moved: bool,
}

display_enum! {
    /// Why a token was not accepted.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    pub enum Denied: Error {
        /// Nobody holds it.
        Unknown => "nobody holds this token",
        /// Its holder's stream comes from another host.
        OtherHost => "the token's holder is on another host",
        /// The address belongs to a peer already, and the token to another.
        NotTheirOwn => "the address belongs to another peer than the token",
        /// One of these, and its host has shown so many that it is not answered.
        TooMany => "the host has shown too many wrong tokens",
    }
}

impl<P: Copy + Ord> Attachments<P> {
    /// Nobody is attached. The bytes must be a secret of this server, and new for every run.
    pub const fn new(secret: [u8; 32]) -> Self {
        Self {
            tokens: Tokens { secret, issued: 0 },
            holders: BTreeMap::new(),
            peers: BTreeMap::new(),
            addrs: BTreeMap::new(),
            wrong: HostBuckets::new(WRONG_HOSTS_MAX, WRONG_TOKENS, WRONG_TOKEN_REFILL),
        }
    }

    /// A token for a peer whose stream comes from `host`. One that it had before is void.
    pub fn issue(&mut self, peer: P, host: Host) -> Token {
        self.remove(peer);
        let token = loop {
            let token = self.tokens.next();
            // Two of 64 bits are hardly ever the same, but then one peer would get both's datagrams.
            if !self.holders.contains_key(&token) {
                break token;
            }
        };
        self.holders.insert(token, peer);
        let addr = None;
        self.peers.insert(peer, Attachment { token, host, addr });
        token
    }

    /// A token was shown by datagram.
    pub fn show(&mut self, now: Instant, from: Addr, token: Token) -> Result<Attached<P>, Denied> {
        self.attach(from, token).map_err(|why| {
            let bucket = self.wrong.get(now, from.host);
            match bucket.and_then(|bucket| bucket.take(now)) {
                Some(()) => why,
                None => Denied::TooMany,
            }
        })
    }

    fn attach(&mut self, from: Addr, token: Token) -> Result<Attached<P>, Denied> {
        let peer = *self.holders.get(&token).ok_or(Denied::Unknown)?;
        let attachment = self.peers.get_mut(&peer).ok_or(Denied::Unknown)?;
        if attachment.host != from.host {
            return Err(Denied::OtherHost);
        }
        if self.addrs.get(&from).is_some_and(|known| *known != peer) {
            return Err(Denied::NotTheirOwn);
        }
        let before = attachment.addr.replace(from);
        let moved = before != Some(from);
        if let Some(before) = before.filter(|_| moved) {
            self.addrs.remove(&before);
        }
        self.addrs.insert(from, peer);
        Ok(Attached { peer, moved })
    }

    /// The peer whose datagrams come from `from`.
    pub fn peer_at(&self, from: Addr) -> Option<P> {
        self.addrs.get(&from).copied()
    }

    /// Where a peer's datagrams go.
    pub fn addr_of(&self, peer: P) -> Option<Addr> {
        self.peers.get(&peer)?.addr
    }

    /// Forgets a peer; its token is void.
    pub fn remove(&mut self, peer: P) {
        if let Some(gone) = self.peers.remove(&peer) {
            self.holders.remove(&gone.token);
            if let Some(addr) = gone.addr {
                self.addrs.remove(&addr);
            }
        }
    }
}

/// A source of tokens.
struct Tokens {
    secret: [u8; 32],
    issued: u64,
}

impl Tokens {
    /// SipHash-2-4 of the counter. Half of the secret is the key, the other half is hashed in front
    /// of the counter: a client that collects tokens knows neither.
    fn next(&mut self) -> Token {
        let (key, salt) = self.secret.split_at(16);
        let mut hasher = SipHasher24::new_with_key(key.first_chunk().expect("half of 32 bytes"));
        hasher.write(salt);
        hasher.write(&self.issued.to_le_bytes());
        self.issued += 1;
        Token(hasher.finish())
    }
}

impl fmt::Debug for Tokens {
    /// Leaves out the secret: what is printed for debugging ends up in logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokens")
            .field("issued", &self.issued)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use core::net::{IpAddr, Ipv4Addr};

    use alloc::collections::BTreeSet;
    use alloc::format;

    use super::*;

    const NOW: Instant = Instant::ZERO;

    const fn machine(number: u8, port: u16) -> Addr {
        Addr {
            host: Host::Ip(IpAddr::V4(Ipv4Addr::new(10, 0, 0, number))),
            port,
        }
    }

    const fn attached(peer: u32, moved: bool) -> Result<Attached<u32>, Denied> {
        Ok(Attached { peer, moved })
    }

    #[test]
    fn the_newest_address_that_shows_a_token_wins() {
        let mut all = Attachments::new([7; 32]);
        let token = all.issue(1, machine(1, 0).host);
        assert_eq!(all.addr_of(1), None);
        assert_eq!(all.show(NOW, machine(1, 400), token), attached(1, true));
        assert_eq!(all.show(NOW, machine(1, 400), token), attached(1, false));
        assert_eq!(all.show(NOW, machine(1, 401), token), attached(1, true));
        assert_eq!(all.addr_of(1), Some(machine(1, 401)));
        assert_eq!(all.peer_at(machine(1, 401)), Some(1));
        assert_eq!(all.peer_at(machine(1, 400)), None);
    }

    #[test]
    fn a_token_counts_only_from_its_stream_s_host() {
        let mut all = Attachments::new([7; 32]);
        let token = all.issue(1, machine(1, 0).host);
        assert_eq!(
            all.show(NOW, machine(2, 400), token),
            Err(Denied::OtherHost)
        );
        let link = Addr {
            host: Host::Link(1),
            port: 0,
        };
        assert_eq!(all.show(NOW, link, token), Err(Denied::OtherHost));
        assert_eq!(all.peer_at(machine(2, 400)), None);
        // Nor from an address there that is somebody's already.
        let other = all.issue(2, machine(2, 0).host);
        assert_eq!(all.show(NOW, machine(2, 400), other), attached(2, true));
        assert_eq!(
            all.show(NOW, machine(2, 400), token),
            Err(Denied::OtherHost)
        );
        assert_eq!(all.peer_at(machine(2, 400)), Some(2));
    }

    #[test]
    fn equal_links_are_one_peer_whatever_the_port() {
        let mut all = Attachments::new([7; 32]);
        let token = all.issue(1, Host::Link(9));
        let at = |port| Addr {
            host: Host::Link(9),
            port,
        };
        assert_eq!(all.show(NOW, at(0), token), attached(1, true));
        assert_eq!(all.show(NOW, at(1), token), attached(1, true));
    }

    #[test]
    fn an_address_cannot_take_another_peer_s_token() {
        let mut all = Attachments::new([7; 32]);
        let host = machine(1, 0).host;
        let (first, second) = (all.issue(1, host), all.issue(2, host));
        assert_eq!(all.show(NOW, machine(1, 400), first), attached(1, true));
        assert_eq!(
            all.show(NOW, machine(1, 400), second),
            Err(Denied::NotTheirOwn)
        );
        assert_eq!(all.peer_at(machine(1, 400)), Some(1));
        all.remove(1);
        assert_eq!(all.show(NOW, machine(1, 400), second), attached(2, true));
        assert_eq!(all.show(NOW, machine(1, 401), first), Err(Denied::Unknown));
    }

    #[test]
    fn a_new_token_voids_the_old_one() {
        let mut all = Attachments::new([7; 32]);
        let host = machine(1, 0).host;
        let old = all.issue(1, host);
        let new = all.issue(1, host);
        assert_eq!(all.show(NOW, machine(1, 400), old), Err(Denied::Unknown));
        assert_eq!(all.show(NOW, machine(1, 400), new), attached(1, true));
    }

    #[test]
    fn wrong_tokens_of_a_host_have_a_rate_and_the_right_one_always_counts() {
        let mut all = Attachments::new([7; 32]);
        let right = all.issue(1, machine(1, 0).host);
        let wrong = Token(right.0 ^ 1);
        for number in 0..WRONG_TOKENS {
            let port = u16::try_from(number).unwrap();
            let shown = all.show(NOW, machine(1, port), wrong);
            assert_eq!(shown, Err(Denied::Unknown), "{number}");
        }
        let too_many = Err(Denied::TooMany);
        assert_eq!(all.show(NOW, machine(1, 400), wrong), too_many);
        assert_eq!(all.show(NOW, machine(1, 400), right), attached(1, true));
        let elsewhere = all.show(NOW, machine(2, 400), wrong);
        assert_eq!(elsewhere, Err(Denied::Unknown), "others have their own");
        let later = NOW + WRONG_TOKEN_REFILL;
        let next = all.show(later, machine(1, 401), wrong);
        assert_eq!(next, Err(Denied::Unknown));
        assert_eq!(all.show(later, machine(1, 401), wrong), too_many);
    }

    #[test]
    fn wrong_tokens_of_forged_hosts_take_bounded_memory() {
        let mut all = Attachments::<u32>::new([7; 32]);
        for number in 0..10_000 {
            let from = Addr {
                host: Host::Link(number),
                port: 0,
            };
            assert!(all.show(NOW, from, Token(1)).is_err());
            assert!(all.wrong.len() <= WRONG_HOSTS_MAX);
        }
    }

    #[test]
    fn every_bit_of_the_secret_matters_and_none_is_printed() {
        let first = |secret| Tokens { secret, issued: 0 }.next();
        let mut seen = BTreeSet::from([first([0; 32])]);
        for bit in 0..256 {
            let mut secret = [0; 32];
            secret[bit / 8] = 1 << (bit % 8);
            assert!(seen.insert(first(secret)), "bit {bit} changes nothing");
        }
        let tokens = Tokens {
            secret: [0xab; 32],
            issued: 3,
        };
        assert_eq!(format!("{tokens:?}"), "Tokens { issued: 3, .. }");
    }
}
