//! The client: the server's world, smooth, and the player's own part in it at once.
//!
//! In: streams and datagrams; from the game what the player wants, says and asks. Out: inputs, messages,
//! acknowledgements; for the game what is in view, its own entity as it will be, and what happened.
//!
//! The game runs its own loop. In each frame it sets the input, calls [`Client::update`], takes events and
//! draws [`Client::view`]. A connection that breaks is made again with the ticket of the last one.

mod download;
mod drive;
mod event;
mod input_clock;
mod own;
mod playback;
mod provisional;
mod receive;
mod world;
mod write;

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;
use core::fmt;
use core::time::Duration;

use tickwire_replica::world::PlayerId;
use tickwire_replica::{Archetype, EntityId, Replica, Schema};
use tickwire_session::bulk::Overall;
use tickwire_session::{Addr, CallOutcome, CallStatus, Calls, Instant, Uplink};
use tickwire_state::PredictionFigures;

use crate::game::Game;
use crate::limits::{
    ANSWER_PATIENCE, ASKED_AT_ONCE, CLIENT_EVENTS_WAITING, CLIENT_WAITING, LATEST_CHANNELS,
    LATEST_REPEATS, MESSAGE_MAX, NAME_MAX, RESUME_PATIENCE,
};
use crate::message::{FrameReader, Role, Up, bytes_of, value};
use crate::reason::EndReason;
use crate::reliable::{Counted, Outbox};
use crate::server::SayError;
use crate::ticket::Ticket;
use download::{Download, Outcome};
use world::Joined;
use write::LatestOut;

pub use event::{Asked, ClientCounters, ClientEvent};
pub use provisional::ProvisionalId;

/// Who joins where.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    /// The server.
    pub server: Addr,
    /// What the player is called: 1 to 32 bytes without control characters.
    pub name: String,
    /// Whether it plays or looks on.
    pub role: Role,
}

/// How far a client has come.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Phase {
    /// The server has not answered yet.
    Connecting,
    /// It takes part.
    Playing,
    /// The connection broke, and is made again.
    Interrupted,
    /// It leaves.
    Leaving,
    /// It is over.
    Ended(EndReason),
}

/// A client of a game.
pub struct Client<G: Game> {
    config: ClientConfig,
    schema: Schema,
    phase: Phase,
    uplink: Uplink,
    frames: FrameReader,
    outbox: Outbox,
    counted: Counted,
    ticket: Option<Ticket>,
    joined: Option<Box<Joined<G>>>,
    input: G::Input,
    calls: Calls<()>,
    latest: BTreeMap<u8, LatestOut>,
    /// The newest number heard on each channel.
    latest_heard: BTreeMap<u8, u16>,
    download: Download,
    /// When inputs were last made.
    ticked: Instant,
    /// When inputs and acknowledgements were last sent.
    played: Instant,
    events: VecDeque<ClientEvent<G>>,
    counters: ClientCounters,
}

impl<G: Game> Client<G> {
    /// A client that begins to connect.
    pub fn new(now: Instant, config: ClientConfig) -> Self {
        Self {
            uplink: Uplink::dial(now, config.server).with_retry(RESUME_PATIENCE),
            config,
            schema: crate::game::schema::<G>(),
            phase: Phase::Connecting,
            frames: FrameReader::default(),
            outbox: Outbox::new(CLIENT_WAITING),
            counted: Counted::default(),
            ticket: None,
            joined: None,
            input: G::Input::default(),
            calls: Calls::new(ANSWER_PATIENCE, ASKED_AT_ONCE),
            latest: BTreeMap::new(),
            latest_heard: BTreeMap::new(),
            download: Download::default(),
            ticked: now,
            played: now,
            events: VecDeque::new(),
            counters: ClientCounters::default(),
        }
    }

    /// What the player wants from now on, until it wants something else.
    pub fn set_input(&mut self, input: G::Input) {
        self.input = input;
    }

    /// Goes on to this moment: inputs for the ticks that began, and what is to be seen now.
    pub fn update(&mut self, now: Instant) {
        self.end_if_unread();
        self.advance_inputs(now);
        let Some(joined) = &mut self.joined else {
            return;
        };
        joined.play(now, &mut self.events);
    }

    /// Everything of a type that is in view, smooth between what arrived. The player's own entity is as it
    /// will be when its inputs arrive.
    pub fn view<T: Archetype<G::Things>>(&self) -> impl Iterator<Item = (EntityId, T)> {
        let joined = self.joined.iter();
        joined.flat_map(|joined| joined.view())
    }

    /// One entity that is in view.
    pub fn get<T: Archetype<G::Things>>(&self, id: EntityId) -> Option<T> {
        self.joined.as_ref()?.get(id)
    }

    /// The player's own entity, predicted.
    pub fn own<T: Archetype<G::Things>>(&self) -> Option<(EntityId, T)> {
        self.joined.as_ref()?.own()
    }

    /// What this client spawned ahead of the server ([`Game::spawns`]) and does not have of it yet. When it has,
    /// the thing is in [`view`](Self::view), and moves on as it did here.
    pub fn provisional<T: Archetype<G::Things>>(&self) -> impl Iterator<Item = (ProvisionalId, T)> {
        let joined = self.joined.iter();
        joined.flat_map(|joined| joined.provisional())
    }

    /// Says something to the server, reliably and in order.
    pub fn say(&mut self, message: &G::ToServer) -> Result<(), SayError> {
        let body = self.encoded(message)?;
        let frame = Up::Say(&body);
        self.outbox
            .keep(|out| frame.encode(out))
            .map_err(|_| SayError::Full)
    }

    /// Says something of which only the newest on its channel counts.
    pub fn say_latest(&mut self, channel: u8, message: &G::ToServer) -> Result<(), SayError> {
        if channel >= LATEST_CHANNELS {
            return Err(SayError::NoSuchChannel);
        }
        let body = self.encoded(message)?;
        if body.len() > write::LATEST_MAX {
            return Err(SayError::TooLong);
        }
        let before = self.latest.get(&channel).map_or(0, |it| it.number);
        let number = before.wrapping_add(1);
        let repeats = LATEST_REPEATS;
        let latest = LatestOut {
            number,
            body,
            repeats,
        };
        self.latest.insert(channel, latest);
        Ok(())
    }

    /// Asks the server something. It will be answered exactly once, or be over after
    /// [`ANSWER_PATIENCE`].
    pub fn ask(&mut self, now: Instant, message: &G::ToServer) -> Result<Asked, SayError> {
        let body = self.encoded(message)?;
        let id = self.calls.ask(now, ()).map_err(|_| SayError::Full)?;
        let frame = Up::Ask {
            number: id.0,
            body: &body,
        };
        let kept = self.outbox.keep(|out| frame.encode(out));
        if kept.is_err() {
            self.calls.handle_result(id, CallStatus::Refused, &[]).ok();
        }
        kept.map(|()| Asked(id.0)).map_err(|_| SayError::Full)
    }

    /// Fetches a resource that the server offers.
    pub fn fetch(&mut self, name: &str) {
        self.download.want(name);
    }

    /// How far fetching has come.
    pub fn fetched(&self) -> Option<Overall> {
        self.download.overall()
    }

    /// Asks the server to send everything in view anew, as if nothing had arrived yet: a recording can be
    /// played back from there.
    pub fn ask_anew(&mut self) {
        if let Some(joined) = &mut self.joined {
            joined.ask_anew();
        }
    }

    /// Leaves. The session is finished when the server knows, or after a moment.
    pub fn leave(&mut self, now: Instant) {
        match self.phase {
            Phase::Playing => {
                self.phase = Phase::Leaving;
                self.outbox.push(|out| Up::Leave.encode(out)).ok();
                self.uplink.heard(now);
            }
            Phase::Leaving | Phase::Ended(_) => {}
            Phase::Connecting | Phase::Interrupted => self.end(EndReason::Left, ""),
        }
    }

    /// The server, as the driver calls it.
    pub const fn server(&self) -> Addr {
        self.config.server
    }

    /// The driver calls the server something else from now on: the link to it ended and was made anew.
    pub const fn set_server(&mut self, server: Addr) {
        self.config.server = server;
        self.uplink.set_server(server);
    }

    /// How far it has come.
    pub const fn phase(&self) -> Phase {
        self.phase
    }

    /// Who the player is.
    pub fn player(&self) -> Option<PlayerId> {
        self.joined.as_ref().map(|joined| joined.player)
    }

    /// What has arrived of the world, to read.
    pub fn replica(&self) -> Option<&Replica<G::Things>> {
        self.joined.as_ref().map(|joined| joined.replica())
    }

    /// How far behind the newest that arrived the world is shown.
    pub fn delay(&self) -> Option<Duration> {
        self.joined.as_ref()?.delay()
    }

    /// How long ago the newest state of the world arrived.
    pub fn update_age(&self, now: Instant) -> Option<Duration> {
        self.joined.as_ref()?.updates.age(now)
    }

    /// What became of the predictions of the own entity.
    pub fn prediction(&self) -> PredictionFigures {
        let joined = self.joined.as_ref();
        joined.map(|joined| joined.figures()).unwrap_or_default()
    }

    /// What was refused so far.
    pub const fn counters(&self) -> &ClientCounters {
        &self.counters
    }

    fn encoded(&self, message: &G::ToServer) -> Result<alloc::vec::Vec<u8>, SayError> {
        let body = bytes_of(message)?;
        if body.len() > MESSAGE_MAX {
            return Err(SayError::TooLong);
        }
        Ok(body)
    }

    /// The player's name as far as it may go.
    fn name(&self) -> &str {
        let end = self.config.name.floor_char_boundary(NAME_MAX);
        self.config.name.get(..end).unwrap_or_default()
    }

    fn advance_inputs(&mut self, now: Instant) {
        if self.phase == Phase::Playing
            && let Some(joined) = &mut self.joined
        {
            self.ticked = now;
            joined.advance_inputs(now, &self.input);
        }
    }

    /// A game that takes no events would fill the memory. Returns whether it is over.
    fn end_if_unread(&mut self) -> bool {
        let is_unread = self.events.len() >= CLIENT_EVENTS_WAITING;
        if is_unread {
            self.end(EndReason::FellBehind, "");
        }
        is_unread
    }

    /// Tells the game of resources that came to an end.
    fn hand_out(&mut self) {
        while let Some(outcome) = self.download.poll_done() {
            self.events.push_back(match outcome {
                Outcome::Fetched(fetched) => ClientEvent::Fetched {
                    name: fetched.name,
                    bytes: fetched.bytes,
                },
                Outcome::Failed(name) => ClientEvent::NotFetched { name },
            });
        }
    }

    /// Tells the game of questions that ended.
    fn settle(&mut self) {
        while let Some(ended) = self.calls.poll_ended() {
            let answer = match ended.outcome {
                CallOutcome::Answered {
                    status: CallStatus::Done,
                    body,
                } => value(&body).ok(),
                _ => None,
            };
            let asked = Asked(ended.id.0);
            self.events
                .push_back(ClientEvent::Answered { asked, answer });
        }
    }

    fn end(&mut self, why: EndReason, words: &str) {
        if matches!(self.phase, Phase::Ended(_)) {
            return;
        }
        self.phase = Phase::Ended(why);
        self.uplink.end();
        self.calls.disconnect();
        self.settle();
        let words = match why {
            EndReason::OtherSchema if self.schema.text() == words => {
                "the types are the same, but not the prior: see Game::PRIOR".into()
            }
            EndReason::OtherSchema => self.schema.explain_mismatch(words),
            _ => words.into(),
        };
        self.events.push_back(ClientEvent::Ended { why, words });
    }
}

impl<G: Game> fmt::Debug for Client<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("name", &self.config.name)
            .field("phase", &self.phase)
            .finish_non_exhaustive()
    }
}
