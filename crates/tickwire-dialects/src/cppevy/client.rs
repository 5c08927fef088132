//! The client: joins, keeps a copy of the server's entities, and asks for things to be done.
//!
//! In: the server's stream and datagrams, and from whoever plays actions and inputs. Out: payloads,
//! events, the newest states as long as they mean something, and of every assured action one end.

mod asset;
mod drive;
mod event;
mod fetch;
mod receive;
mod send;
mod upload;
mod world;

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use tickwire_session::{
    ActionNumber, Actions, Addr, Belief, Failure, Instant, Outcome, Uplink, counters,
};
use tickwire_state::WrappingClock;

use super::limits::{
    ACTION_PATIENCE, ACTIONS_UNDER_WAY, FAREWELL, REQUESTS_WAITING, STATE_MAX_AGE, TIMEOUT,
};
use super::message::{Assembler, Data, Joined};
use super::outgoing::StreamOut;
use super::{ActionId, Component, Delivery, Registry, StateId, SyncId};
use asset::Asset;
use event::build_event;
use upload::Upload;
use world::World;

pub use asset::AssetFailure;
pub use event::{ActError, ClientEvent, EndReason, FetchError, Phase};
pub use world::Entity;

/// Whom to connect to, and as whom.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    /// The server, by UDP and TCP.
    pub server: Addr,
    /// The player's name; what exceeds 253 bytes is cut.
    pub name: String,
    /// The game's events and actions.
    pub registry: Registry,
}

counters! {
    /// What a client refused or noticed, by cause.
    pub struct ClientCounters {
        /// Datagrams that are no payload of a server, or hold an object that is none.
        undecodable,
        /// Datagrams from somebody else.
        stranger,
        /// States older than what is known.
        stale,
        /// States and events of entities that are not there.
        unknown_entity,
        /// Events that are not registered.
        unknown_event,
        /// Events of the protocol whose data makes no sense, and states of a wrong length.
        bad_data,
        /// Assured events by datagram, which may be forged.
        wrong_path,
        /// Answers to what was not asked.
        unasked_answer,
        /// Tokens that the server refused.
        attach_refused,
        /// Pieces of assets that nobody waits for.
        unexpected_piece,
        /// Datagrams dropped because too many events were waiting.
        overrun,
    }
}

/// A C++evy client.
#[derive(Debug)]
pub struct Client {
    began: Instant,
    config: ClientConfig,
    phase: Phase,
    /// When the phase began.
    since: Instant,
    uplink: Uplink,
    actor: Option<SyncId>,
    world: World,
    clock: WrappingClock,
    actions: Actions<ActionId, Vec<u8>>,
    /// The newest input of each kind that has not been sent.
    inputs: BTreeMap<ActionId, Vec<u8>>,
    disabled_inputs: BTreeSet<ActionId>,
    requests: BTreeSet<StateId>,
    fetch: Option<Asset>,
    upload: Option<Upload>,
    /// The text of the server's index of assets.
    index: Option<Vec<u8>>,
    assembler: Assembler,
    stream: StreamOut,
    /// Times that the token was shown since it was last accepted, and when first.
    attach_tries: Option<(u32, Instant)>,
    events: VecDeque<ClientEvent>,
    counters: ClientCounters,
}

impl Client {
    /// A client that begins to connect.
    pub fn new(now: Instant, config: ClientConfig) -> Self {
        Self {
            began: now,
            phase: Phase::Dialling,
            since: now,
            uplink: Uplink::dial(now, config.server),
            config,
            actor: None,
            world: World::default(),
            clock: WrappingClock::default(),
            actions: Actions::new(ACTION_PATIENCE, ACTIONS_UNDER_WAY),
            inputs: BTreeMap::new(),
            disabled_inputs: BTreeSet::new(),
            requests: BTreeSet::new(),
            fetch: None,
            upload: None,
            index: None,
            assembler: Assembler::default(),
            stream: StreamOut::default(),
            attach_tries: None,
            events: VecDeque::new(),
            counters: ClientCounters::default(),
        }
    }

    /// How far it has come.
    pub const fn phase(&self) -> Phase {
        self.phase
    }

    /// This client's entity, once joined.
    pub const fn actor(&self) -> Option<SyncId> {
        self.actor
    }

    /// Everything that is there, as last told.
    pub fn entities(&self) -> impl Iterator<Item = (SyncId, &Entity)> {
        self.world.iter()
    }

    /// What an entity is, if it is there.
    pub fn entity(&self, id: SyncId) -> Option<&Entity> {
        self.world.get(id)
    }

    /// A state of an entity, unless it was never told or is out of date.
    pub fn state(&self, now: Instant, entity: SyncId, component: Component) -> Option<&[u8]> {
        let state = self.world.state(StateId { entity, component })?;
        (self.age(now, state.timestamp) < STATE_MAX_AGE).then_some(state.value)
    }

    /// How long ago a state was true, out of date or not.
    pub fn state_age(
        &self,
        now: Instant,
        entity: SyncId,
        component: Component,
    ) -> Option<Duration> {
        let state = self.world.state(StateId { entity, component })?;
        Some(self.age(now, state.timestamp))
    }

    /// How long ago a moment of the server's clock was: since the fastest datagram that could have
    /// come from it, and half a round trip before.
    pub fn age(&self, now: Instant, timestamp: u32) -> Duration {
        self.clock.age(now, timestamp) + self.one_way()
    }

    /// How long a datagram takes from here to the server, about.
    pub fn one_way(&self) -> Duration {
        self.uplink.round_trip.mean().unwrap_or_default() / 2
    }

    /// Whether an asset is on its way.
    pub const fn is_fetching(&self) -> bool {
        self.fetch.is_some()
    }

    /// Asks for an assured action. It will end, in one [`ClientEvent::Succeeded`] or
    /// [`ClientEvent::Failed`].
    pub fn act(
        &mut self,
        now: Instant,
        action: ActionId,
        data: &[u8],
    ) -> Result<ActionNumber, ActError> {
        let used = self.config.registry.action(action);
        let belief = used
            .filter(|used| used.delivery == Delivery::Assured)
            .ok_or(ActError::NotRegistered)?
            .belief;
        Data::new(data).ok_or(ActError::TooLong)?;
        if !matches!(self.phase, Phase::Attaching | Phase::Playing) {
            return Err(ActError::NotConnected);
        }
        Ok(self.actions.ask(now, action, belief, data.into())?)
    }

    /// Sends an instant action: the whole of what this kind of input is now. One that was not sent
    /// yet is replaced.
    pub fn input(&mut self, action: ActionId, data: &[u8]) -> Result<(), ActError> {
        let used = self.config.registry.action(action);
        used.filter(|used| used.delivery == Delivery::Instant)
            .ok_or(ActError::NotRegistered)?;
        Data::new(data).ok_or(ActError::TooLong)?;
        if self.phase != Phase::Playing {
            return Err(ActError::NotConnected);
        }
        if self.disabled_inputs.contains(&action) {
            return Err(ActError::Disabled);
        }
        self.inputs.insert(action, data.into());
        Ok(())
    }

    /// Assured actions that are shown though the server has not answered, in the order of the
    /// asking: what to draw on top of the states.
    pub fn assumed(&self) -> impl Iterator<Item = (ActionNumber, ActionId, &[u8])> {
        let shown = self.actions.assumed();
        shown.map(|(number, action, data)| (number, action, data.as_slice()))
    }

    /// Asks for a state. The server may say nothing.
    pub fn request_state(&mut self, state: StateId) -> Result<(), ActError> {
        if self.phase != Phase::Playing {
            return Err(ActError::NotConnected);
        }
        if self.requests.len() >= REQUESTS_WAITING {
            return Err(ActError::TooMany);
        }
        self.requests.insert(state);
        Ok(())
    }

    /// Says that it goes; it is over when the server has heard it, or a little later.
    pub fn leave(&mut self, now: Instant) {
        match self.phase {
            Phase::Leaving | Phase::Ended(_) => {}
            Phase::Dialling | Phase::Joining => self.end(EndReason::Left),
            Phase::Attaching | Phase::Playing => {
                let asked = self
                    .actions
                    .ask(now, ActionId::LEAVE, Belief::Confirmed, Vec::new());
                self.enter(now, Phase::Leaving);
                if asked.is_err() {
                    self.end(EndReason::Left);
                }
            }
        }
    }

    /// What was refused so far.
    pub const fn counters(&self) -> &ClientCounters {
        &self.counters
    }

    const fn enter(&mut self, now: Instant, phase: Phase) {
        self.phase = phase;
        self.since = now;
    }

    const fn is_ended(&self) -> bool {
        matches!(self.phase, Phase::Ended(_))
    }

    /// Ends the session, and before it everything that is under way.
    fn end(&mut self, why: EndReason) {
        if self.is_ended() {
            return;
        }
        self.phase = Phase::Ended(why);
        self.uplink.end();
        self.actions.disconnect();
        while let Some(ended) = self.actions.poll_ended() {
            if ended.kind.name().is_none() {
                self.events.push_back(build_event(ended));
            }
        }
        self.fail_fetch(AssetFailure::Action(Failure::Disconnected));
        self.fail_upload(Failure::Disconnected);
        self.events.push_back(ClientEvent::Ended(why));
    }

    /// Does what follows from the ends of actions.
    fn settle(&mut self, now: Instant) {
        while !self.is_ended()
            && let Some(ended) = self.actions.poll_ended()
        {
            match ended.kind {
                ActionId::JOIN => self.settle_join(now, ended.outcome),
                ActionId::LEAVE => self.end(EndReason::Left),
                ActionId::ASSET => self.settle_asset(now, ended.outcome),
                ActionId::OFFER => self.settle_offer(now, ended.outcome),
                ActionId::PIECE => self.settle_piece(now, ended.outcome),
                _ => self.events.push_back(build_event(ended)),
            }
        }
    }

    fn settle_join(&mut self, now: Instant, outcome: Outcome) {
        let message = match outcome {
            Outcome::Succeeded { message, .. } => message,
            Outcome::Failed(why) => return self.end(EndReason::Refused(why)),
        };
        let Ok(Joined { actor, token }) = Joined::decode(&message) else {
            return self.end(EndReason::Garbled);
        };
        self.actor = Some(actor);
        self.uplink.set_token(now, token);
        self.enter(now, Phase::Attaching);
        self.events.push_back(ClientEvent::Joined { actor });
    }

    fn timestamp(&self, now: Instant) -> u32 {
        now.wrapping_millis_since(self.began)
    }

    /// When patience ends in this phase.
    fn deadline(&self) -> Instant {
        match self.phase {
            Phase::Leaving => self.since + FAREWELL,
            _ => self.uplink.last_heard() + TIMEOUT,
        }
    }
}
