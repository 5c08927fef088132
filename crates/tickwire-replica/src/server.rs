//! The clients of a world: what each is sent, and what each is known to hold.
//!
//! In: a [`World`], where each client looks, and which packets arrived. Out: packets. A packet holds
//! *records*, each of which takes a client from a version that it is known to hold to what is true now.
//! Nothing of a client is in a record, so that clients who hold the same share one; and what they hold is
//! kept once for all of them.
//!
//! ```text
//!   World ─▶ places and blocks ─┬─▶ Interest: what is in view
//!                               ├─▶ Knowledge: what of it is due, and held since when
//!                               ├─▶ Plan: which records, in which order
//!                               └─▶ Records: encoded once for everyone ─▶ packets
//!   acknowledgements ─▶ Flights: what was in that packet ─▶ Knowledge
//! ```
//!
//! How packets travel, and how acknowledgements come back, is left to others.

mod client;
mod first_view;
mod flight;
mod interest;
mod knowledge;
mod known;
mod ledger;
mod notices;
mod plan;
mod records;

pub use interest::View;
pub use records::Sharing;

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use crate::Archetypes;
use crate::coder::Prior;
use crate::limits::CLIENTS_MAX;
use crate::number::{PacketNumber, SendIndex};
use crate::packet::Form;
use crate::record::{BlockName, Coding};
use crate::world::{Audience, Cell, Groups, PlayerId, Store, World};
use client::{Client, Pace};
use interest::Interest;
use knowledge::Knowledge;
use records::Records;

/// How clients are served.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClientsConfig {
    /// The time from one send to the next.
    pub send_interval: Duration,
    /// How records are coded, unless [`set_forms`](Clients::set_forms) says otherwise. One that is longer
    /// coded than packed is sent packed.
    pub form: Form,
}

impl Default for ClientsConfig {
    fn default() -> Self {
        Self {
            send_interval: Duration::from_millis(50),
            form: Form::Packed,
        }
    }
}

/// A client, until it leaves.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ClientId(pub u32);

/// Who a client is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Join {
    /// Which player.
    pub player: PlayerId,
    /// The groups that the player belongs to.
    pub groups: Groups,
}

/// There are as many clients as there may be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TooManyClients;

impl fmt::Display for TooManyClients {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there are {CLIENTS_MAX} clients already")
    }
}

impl core::error::Error for TooManyClients {}

/// What a path takes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Room {
    /// Bytes of one datagram, at least [`ROOM_MIN`](crate::limits::ROOM_MIN).
    pub datagram: usize,
    /// Bytes of all datagrams of this send. Only blocks that a client has never held wait for it: what
    /// it holds is kept up to date by the budget.
    pub path: usize,
}

/// A place, to be weighed for a client.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sight {
    /// Where it lies, if anywhere.
    pub cell: Option<Cell>,
    /// Who may see it.
    pub audience: Audience,
    /// The square of how far it is from where the client looks.
    pub distance_squared: f64,
}

/// How important a place is to a client: twice as much is sent twice as often where not everything can
/// be. At least 1.
type Weigh = Box<dyn Fn(ClientId, &Sight) -> u16 + Send + Sync>;

/// The clients of one world.
pub struct Clients {
    clients: Vec<Option<Client>>,
    config: ClientsConfig,
    pace: Pace,
    shared: Shared,
    /// The last send that anything was asked of.
    send: SendIndex,
    /// Blocks that a client does not know any more.
    released: Vec<BlockName>,
    weigh: Option<Weigh>,
}

/// What clients share.
#[derive(Debug)]
struct Shared {
    knowledge: Knowledge,
    records: Records,
}

impl Clients {
    /// No clients of a world. Coded records begin with the general prior.
    pub fn new<A: Archetypes>(_world: &World<A>, config: ClientsConfig) -> Self {
        Self::with_prior(config, Prior::general(&A::schema()))
    }

    /// No clients. Their replicas must have the same prior.
    pub fn with_prior(config: ClientsConfig, prior: Prior) -> Self {
        let sends_a_second = sends(Duration::from_secs(1), config.send_interval);
        Self {
            clients: Vec::new(),
            config,
            pace: Pace {
                silence: sends_a_second,
                probe: (sends_a_second / 2).max(1),
            },
            shared: Shared {
                knowledge: Knowledge::default(),
                records: Records::new(config.form, Coding::new(prior)),
            },
            send: SendIndex::NONE,
            released: Vec::new(),
            weigh: None,
        }
    }

    /// Lets `weigh` say how important a place is to a client, from 1. It is asked where a budget does not
    /// suffice.
    pub fn set_weights(&mut self, weigh: impl Fn(ClientId, &Sight) -> u16 + Send + Sync + 'static) {
        self.weigh = Some(Box::new(weigh));
    }

    /// Lets `choose` say how the records of a place are coded at a send: packed takes a tenth of the time,
    /// coded two thirds of the bytes. It must answer the same for the same place and send, so that clients
    /// share records.
    pub fn set_forms(
        &mut self,
        choose: impl Fn(Option<Cell>, Audience, SendIndex) -> Form + Send + Sync + 'static,
    ) {
        self.shared.records.set_forms(Box::new(choose));
    }

    /// Adds a client.
    pub fn join<A: Archetypes>(
        &mut self,
        world: &World<A>,
        join: Join,
    ) -> Result<ClientId, TooManyClients> {
        let free = self.clients.iter().position(Option::is_none);
        let at = free.unwrap_or(self.clients.len());
        let id = u32::try_from(at).ok().filter(|_| at < CLIENTS_MAX);
        let id = ClientId(id.ok_or(TooManyClients)?);
        let interest = Interest::new(join.player, join.groups);
        let client = Some(Client::new(
            interest,
            world.send().next(),
            world.store().cleared,
        ));
        match self.clients.get_mut(at) {
            Some(place) => *place = client,
            None => self.clients.push(client),
        }
        Ok(id)
    }

    /// Takes a client away. Its id may be given to another.
    pub fn leave(&mut self, client: ClientId) {
        if let Some(place) = self.clients.get_mut(client.0 as usize)
            && let Some(mut client) = place.take()
        {
            let knowledge = &mut self.shared.knowledge;
            client.abandon(knowledge, |block| self.released.push(block));
        }
    }

    /// Says to which groups a client's player belongs.
    pub fn set_groups(&mut self, client: ClientId, groups: Groups) {
        if let Some(client) = self.client_mut(client) {
            client.interest.set_groups(groups);
        }
    }

    /// Says where a client looks. Without a view it sees only what has no place on the grid.
    pub fn set_view(&mut self, client: ClientId, view: Option<View>) {
        if let Some(client) = self.client_mut(client) {
            client.interest.set_view(view);
        }
    }

    /// Says how many bytes of records a client may be sent each send.
    pub fn set_budget(&mut self, client: ClientId, bytes: usize) {
        if let Some(client) = self.client_mut(client) {
            client.budget = bytes;
        }
    }

    /// Says how long acknowledgements take.
    pub fn set_round_trip(&mut self, client: ClientId, round_trip: Duration) {
        let sends = sends(round_trip, self.config.send_interval);
        if let Some(client) = self.client_mut(client) {
            client.overdue = sends.saturating_add(2);
        }
    }

    /// Whether a client has received everything that was in view when it was first sent something, as far
    /// as that was not gone or out of view before.
    pub fn is_ready(&self, client: ClientId) -> bool {
        let client = self.clients.get(client.0 as usize);
        client.is_some_and(|client| client.as_ref().is_some_and(Client::is_ready))
    }

    /// Whether a client goes on without confirming what is gone: more than [`LEFT_MAX`](crate::limits::LEFT_MAX)
    /// blocks, whose numbers the world cannot use anew until the client leaves.
    pub fn is_stuck(&self, client: ClientId) -> bool {
        let client = self.clients.get(client.0 as usize);
        client.is_some_and(|client| client.as_ref().is_some_and(Client::is_stuck))
    }

    /// How often records were shared so far.
    pub const fn sharing(&self) -> Sharing {
        self.shared.records.figures()
    }

    /// Appends the next packet of the world's last send to a client, until there is none.
    ///
    /// Every send has at least one packet, except that a client which has not acknowledged anything for
    /// a second gets two sends a second. A caller whose path is full may stop early.
    pub fn poll_packet<A: Archetypes>(
        &mut self,
        world: &mut World<A>,
        id: ClientId,
        room: Room,
        out: &mut Vec<u8>,
    ) -> Option<PacketNumber> {
        let send = world.send();
        if send == SendIndex::NONE {
            return None;
        }
        if self.send != send {
            self.begin(world.store_mut());
        }
        let Self {
            clients,
            shared,
            weigh,
            pace,
            ..
        } = self;
        let client = clients.get_mut(id.0 as usize)?.as_mut()?;
        if !client.has_begun(send) {
            let store = world.store();
            let own = world.owned(client.interest.player());
            let own = own.iter().filter_map(|id| world.place_of(*id));
            client.begin(store, shared, own, *pace, room, |visible| {
                let Some((weigh, place)) = weigh.as_ref().zip(store.place(visible.number)) else {
                    return 1;
                };
                let sight = Sight {
                    cell: place.cell(),
                    audience: place.audience,
                    distance_squared: visible.distance,
                };
                weigh(id, &sight)
            });
        }
        client.poll(world.store_mut(), shared, room, out)
    }

    /// A client has received and applied a packet.
    pub fn acknowledge(&mut self, client: ClientId, packet: PacketNumber) {
        let Self {
            clients,
            released,
            shared,
            ..
        } = self;
        if let Some(Some(client)) = clients.get_mut(client.0 as usize) {
            client.acknowledge(self.send, packet, shared, |block| released.push(block));
        }
    }

    /// A client lacks what a packet was relative to: it is sent everything anew.
    pub fn forget(&mut self, client: ClientId) {
        if let Some(Some(client)) = self.clients.get_mut(client.0 as usize) {
            client.forget(&mut self.shared.knowledge);
        }
    }

    /// Begins a send.
    fn begin(&mut self, store: &mut Store) {
        self.send = store.send();
        self.shared.records.begin(self.send);
        self.shared.knowledge.begin(self.send);
        for BlockName { place, block } in self.released.drain(..) {
            if let Some(head) = store.head_mut(place, block) {
                head.knowers = head.knowers.saturating_sub(1);
            }
        }
    }

    fn client_mut(&mut self, client: ClientId) -> Option<&mut Client> {
        self.clients.get_mut(client.0 as usize)?.as_mut()
    }
}

impl fmt::Debug for Clients {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clients")
            .field("send", &self.send)
            .field("clients", &self.clients.iter().flatten().count())
            .field("sharing", &self.sharing())
            .finish_non_exhaustive()
    }
}

/// How many sends a time takes, rounded up.
fn sends(time: Duration, interval: Duration) -> u64 {
    let sends = time.as_nanos().div_ceil(interval.as_nanos().max(1));
    u64::try_from(sends).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
