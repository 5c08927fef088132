//! One client of the simulation: what it did, and what must be true of what it holds and hears.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use tickwire_native::message::{DatagramUp, FrameReader, Up};
use tickwire_native::{Asked, Client, ClientEvent, Phase, PlayerId};
use tickwire_replica::SendIndex;
use tickwire_replica::record::Held as _;
use tickwire_replica::server::View;
use tickwire_session::tap::{Input, Observer, Tap};
use tickwire_session::{Events as _, Instant, StreamId, Transmit};
use tickwire_sim::NodeId;
use tickwire_wire::DecodeError;

use super::bugs::Bug;
use crate::sabotage::Saboteur;
use crate::things::{SIDE, Sea, Stick, Word};
use crate::truth::{Truth, Watcher, is_equal};

/// Who looked at the world from where, by send.
pub(super) type Looks = BTreeMap<SendIndex, BTreeMap<PlayerId, Watcher>>;

/// The server asks the grid anew only when somebody has moved by more than an eighth of a side; and both sides
/// round.
const SLACK: f64 = SIDE / 8.0 + 0.01;

/// A client and what is known of it.
pub(super) struct Seat {
    pub(super) session: Saboteur<Tap<Client<Sea>, Diary>, Bug>,
    pub(super) node: NodeId,
    /// The event that it has to hear next, once it has joined.
    pub(super) next_event: Option<u32>,
    pub(super) said: u32,
    asked: BTreeMap<Asked, u32>,
    /// The complete send that was compared last.
    compared: Option<SendIndex>,
    pub(super) has_left: bool,
}

/// What a client sent: the inputs that it made, by tick, and its stream.
#[derive(Default)]
pub(super) struct Diary {
    made: BTreeMap<u64, Vec<Stick>>,
    frames: FrameReader,
    pub(super) stream: Option<StreamId>,
}

impl Diary {
    /// Whether an input was made for a tick: the only one, unless the client's clock was set back.
    pub(super) fn has(&self, tick: u64, input: &Stick) -> bool {
        self.made
            .get(&tick)
            .is_some_and(|made| made.contains(input))
    }

    /// Whether an input was made for one of these ticks.
    pub(super) fn has_one(&self, mut ticks: RangeInclusive<u64>, input: &Stick) -> bool {
        ticks.any(|tick| self.has(tick, input))
    }
}

impl Diary {
    fn write(&mut self, datagram: &[u8]) {
        if let Ok(DatagramUp::Play { inputs, .. }) = DatagramUp::decode(datagram)
            && let Ok(values) = inputs.decode::<Stick>()
        {
            let ticks = (0..=u64::from(inputs.tick)).rev();
            for (tick, value) in ticks.zip(values) {
                self.made.entry(tick).or_default().push(value.value());
            }
        }
    }
}

impl Observer for Diary {
    fn input(&mut self, _now: Instant, input: Input<'_>) {
        if let Input::Opened { on, .. } = input {
            self.stream = Some(on);
            self.frames = FrameReader::default();
        }
    }

    fn output(&mut self, _now: Instant, transmit: Transmit, bytes: &[u8]) {
        match transmit {
            Transmit::Datagram { .. } => self.write(bytes),
            Transmit::Stream { .. } => {
                let mut frames = core::mem::take(&mut self.frames);
                let read = frames.receive(bytes, |kind, body| {
                    if let Up::Datagram(datagram) = Up::decode(kind, body)? {
                        self.write(datagram);
                    }
                    Ok::<_, DecodeError>(())
                });
                read.expect("a client sends frames");
                self.frames = frames;
            }
            _ => {}
        }
    }
}

impl Seat {
    pub(super) fn new(client: Client<Sea>, node: NodeId, bug: Option<Bug>) -> Self {
        Self {
            session: Saboteur {
                server: Tap::new(client, Diary::default()),
                bug,
            },
            node,
            next_event: None,
            said: 0,
            asked: BTreeMap::new(),
            compared: None,
            has_left: false,
        }
    }

    pub(super) const fn client(&mut self) -> &mut Client<Sea> {
        &mut self.session.server.session
    }

    pub(super) const fn diary(&self) -> &Diary {
        &self.session.server.observer
    }

    pub(super) fn player(&self) -> Option<PlayerId> {
        self.session.server.session.player()
    }

    pub(super) const fn is_playing(&self) -> bool {
        matches!(self.session.server.session.phase(), Phase::Playing)
    }

    pub(super) fn say(&mut self) {
        let word = Word(self.said);
        if self.client().say(&word).is_ok() {
            self.said += 1;
        }
    }

    pub(super) fn ask(&mut self, now: Instant, number: u32) {
        if let Ok(asked) = self.client().ask(now, &Word(number)) {
            self.asked.insert(asked, number);
        }
    }

    /// Whether nothing is under way to it or from it.
    pub(super) fn has_heard(&self, events: u32) -> bool {
        self.asked.is_empty() && self.next_event == Some(events)
    }

    /// Takes events: each once and in order, each question answered once.
    pub(super) fn hear(&mut self) -> Result<(), String> {
        while let Some(event) = self.client().poll_event() {
            match event {
                ClientEvent::Happened(Word(number)) => {
                    let Some(next) = &mut self.next_event else {
                        return Err(format!("event {number} comes before it has joined"));
                    };
                    if number != *next {
                        return Err(format!(
                            "{number} comes after event {}",
                            i64::from(*next) - 1
                        ));
                    }
                    *next += 1;
                }
                ClientEvent::Answered { asked, answer } => {
                    let Some(question) = self.asked.remove(&asked) else {
                        return Err(format!("{asked:?} is answered twice"));
                    };
                    if answer.is_some_and(|answer| answer != Word(question)) {
                        return Err(format!("{asked:?} has another's answer"));
                    }
                }
                ClientEvent::Ended { why, words } if !self.has_left => {
                    return Err(format!("it ends: {why} {words}"));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Every version that it holds is the server's of that send, and something that it could see then.
    pub(super) fn check_versions(&self, truth: &Truth, looks: &Looks) -> Result<(), String> {
        let (Some(replica), Some(player)) = (self.session.server.session.replica(), self.player())
        else {
            return Ok(());
        };
        for name in replica.blocks() {
            for (send, version) in replica.versions(name) {
                let Some((archetype, held)) = version else {
                    continue;
                };
                let is = truth.block_at(name, send);
                if is.is_none_or(|(of, is)| of != archetype || !is_equal(is, held)) {
                    return Err(format!("{name:?} differs at {send}"));
                }
                let may = watcher(looks, send, player).map(|it| beyond(it, SLACK));
                let whole = truth.at(send);
                if !may
                    .zip(whole)
                    .is_some_and(|(may, whole)| whole.sees(&may, name.place))
                {
                    return Err(format!("it holds {name:?} of {send}, which it may not see"));
                }
            }
        }
        Ok(())
    }

    /// When a send is complete, all that could be seen at it is held, and nothing else.
    pub(super) fn check_complete(&mut self, truth: &Truth, looks: &Looks) -> Result<(), String> {
        let (Some(replica), Some(player)) = (self.session.server.session.replica(), self.player())
        else {
            return Ok(());
        };
        let Some(send) = replica.newest_complete() else {
            return Ok(());
        };
        if self.compared.replace(send) == Some(send) {
            return Ok(());
        }
        let whole = truth.at(send).ok_or("a send that never was is complete")?;
        let looked = watcher(looks, send, player).ok_or("nobody looked at a complete send")?;
        let must = whole.seen(&beyond(looked, -SLACK));
        let may = beyond(looked, SLACK);
        let mut held_names = BTreeSet::new();
        for name in replica.blocks() {
            let Some((_, held)) = replica.block_at(name, send) else {
                continue;
            };
            if !whole.sees(&may, name.place) {
                return Err(format!(
                    "{send} is complete, and {name:?} is held, which it may not see"
                ));
            }
            let is = truth.block_at(name, send);
            if !is.is_some_and(|(_, is)| is_equal(is, held)) {
                return Err(format!("{send} is complete, and {name:?} differs at it"));
            }
            held_names.insert(name);
        }
        match must.keys().find(|name| !held_names.contains(name)) {
            Some(name) => Err(format!("{send} is complete, and {name:?} is missing")),
            None => Ok(()),
        }
    }

    /// The newest send at which it held all that it could see.
    pub(super) fn complete(&self) -> Option<SendIndex> {
        self.session.server.session.replica()?.newest_complete()
    }

    /// Bytes of the versions that it holds.
    pub(super) fn bytes(&self) -> usize {
        let replica = self.session.server.session.replica();
        replica.map_or(0, |replica| replica.version_bytes())
    }
}

fn watcher(looks: &Looks, send: SendIndex, player: PlayerId) -> Option<&Watcher> {
    looks.get(&send)?.get(&player)
}

/// Somebody who sees so much farther.
fn beyond(watcher: &Watcher, by: f64) -> Watcher {
    Watcher {
        view: watcher.view.map(|View { at, range }| View {
            at,
            range: range + by,
        }),
        ..*watcher
    }
}
