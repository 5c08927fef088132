//! A client, and everything that its player noticed.
//!
//! It stands between the network and the client, so that every whole snapshot is looked at in the moment
//! in which it is, before a newer one can push it out.

use std::collections::{BTreeMap, BTreeSet};

use tickwire_dialects::reone::message::{Call, Speed};
use tickwire_dialects::reone::{
    CallFailure, CallId, CallReply, Client, ClientConfig, ClientEvent, ClientId, Mode, PORT,
    SendError, Snapshot, SnapshotSeq, Text, Whole,
};
use tickwire_session::{
    Addr, Ended, Events as _, Instant, Path, Session, StreamId, pass_on_session,
};
use tickwire_sim::{Network, NodeId, addr};

use super::game::{Issued, value, worn};
use super::truth::Truth;

#[derive(Debug)]
pub(super) struct Viewer {
    pub(super) client: Client,
    pub(super) node: NodeId,
    pub(super) id: Option<ClientId>,
    /// Events as they came, the snapshot with those that tell of one.
    noticed: Vec<(ClientEvent, Option<Snapshot>)>,
    /// The snapshots that were whole since the client last began.
    completed: BTreeSet<SnapshotSeq>,
    /// How each of them was made, by the client's own account.
    pub(super) modes: Vec<(Instant, Mode)>,
    /// How many of this client's events were sent.
    pub(super) sent: u32,
    calls: BTreeMap<CallId, Asked>,
    commands: BTreeSet<usize>,
    pub(super) interruptions: u32,
}

#[derive(Debug)]
struct Asked {
    name: String,
    has_ended: bool,
}

impl Viewer {
    pub(super) fn connect(net: &mut Network, number: u8) -> Self {
        let node = net.add_node(addr::machine(10 + number, 5_000));
        let config = ClientConfig::new(addr::machine(1, PORT), "ann").expect("a good name");
        Self {
            client: Client::new(net.now(), config),
            node,
            id: None,
            noticed: Vec::new(),
            completed: BTreeSet::new(),
            modes: Vec::new(),
            sent: 0,
            calls: BTreeMap::new(),
            commands: BTreeSet::new(),
            interruptions: 0,
        }
    }

    /// Looks at everything that happened since it last did.
    pub(super) fn look(&mut self, truth: &Truth, issued: &[Issued]) -> Result<(), String> {
        for (event, snapshot) in std::mem::take(&mut self.noticed) {
            match event {
                ClientEvent::Welcomed { client } => self.id = Some(client),
                ClientEvent::Snapshot(whole) => self.check_snapshot(truth, &whole, snapshot)?,
                ClientEvent::Loading { .. } | ClientEvent::Initialised(_) => self.completed.clear(),
                ClientEvent::Interrupted => {
                    self.interruptions += 1;
                    self.completed.clear();
                }
                ClientEvent::Shot(shot) => {
                    self.take_command(&shot.origin.z.to_string(), shot.at, issued)?
                }
                ClientEvent::Effect { at, resref, .. } => self.take_command(&resref, at, issued)?,
                ClientEvent::Animation {
                    at, resref, speed, ..
                } => {
                    if ![1, 2, 3]
                        .map(|factor| Speed::NORMAL.times(factor))
                        .contains(&speed)
                    {
                        return Err(format!("an animation plays at {speed:?}"));
                    }
                    self.take_command(&resref, at, issued)?;
                }
                ClientEvent::CallEnded { id, outcome } => self.end_call(id, &outcome)?,
                ClientEvent::Refused { .. }
                | ClientEvent::BadResource { .. }
                | ClientEvent::ResourceRefused { .. }
                | ClientEvent::Reconnecting { .. }
                | ClientEvent::Ended(_) => return Err(format!("{event:?}")),
                _ => {}
            }
        }
        Ok(())
    }

    fn check_snapshot(
        &mut self,
        truth: &Truth,
        whole: &Whole,
        snapshot: Option<Snapshot>,
    ) -> Result<(), String> {
        let client = self.id.ok_or("a snapshot before Welcome")?;
        let snapshot =
            snapshot.ok_or_else(|| format!("{} is told of, not held", whole.sequence))?;
        truth.check(client, &snapshot)?;
        self.completed.insert(whole.sequence);
        // The creature wears the last event whose outcome is in this snapshot.
        let Some(own) = whole.own else {
            return Ok(());
        };
        match own.equipment1 < worn(whole.answered.0) {
            true => Err(format!(
                "{} answers event {}, and shows {}",
                whole.sequence, whole.answered.0, own.equipment1
            )),
            false => Ok(()),
        }
    }

    fn take_command(
        &mut self,
        name: &str,
        at: SnapshotSeq,
        issued: &[Issued],
    ) -> Result<(), String> {
        let number: usize = name
            .parse()
            .map_err(|_| format!("no command is called {name}"))?;
        if issued.get(number).is_none_or(|issued| issued.at != at) {
            return Err(format!("command {number} was not given at {at}"));
        }
        match self.commands.insert(number) {
            true => Ok(()),
            false => Err(format!("command {number} came twice")),
        }
    }

    fn end_call(
        &mut self,
        id: CallId,
        outcome: &Result<CallReply, CallFailure>,
    ) -> Result<(), String> {
        let asked = self
            .calls
            .get_mut(&id)
            .ok_or("a call that was not made ended")?;
        if std::mem::replace(&mut asked.has_ended, true) {
            return Err(format!("{id:?} ended twice"));
        }
        match outcome {
            Ok(CallReply::Global(answer)) if *answer == value(&asked.name) => Ok(()),
            Err(CallFailure::TimedOut) => Ok(()),
            other => Err(format!("{} gave {other:?}", asked.name)),
        }
    }

    /// Does what players do in a tick.
    pub(super) fn act(&mut self, now: Instant, tick: u32) -> Result<(), String> {
        let number = self.sent + 1;
        match self.client.send_event(1, &number.to_le_bytes()) {
            Ok(id) if id.0 == number => self.sent = number,
            Ok(id) => return Err(format!("event {number} is numbered {}", id.0)),
            Err(SendError::NotReady | SendError::TooManyWaiting) => {}
            Err(error) => return Err(error.to_string()),
        }
        if tick.is_multiple_of(20) && self.id.is_some() {
            let name = tick.to_string();
            let call = Call::Global(Text::new(&name).expect("digits"));
            let id = self
                .client
                .ask(now, call)
                .map_err(|error| error.to_string())?;
            let asked = Asked {
                name,
                has_ended: false,
            };
            self.calls.insert(id, asked);
        }
        Ok(())
    }

    pub(super) fn has_answers(&self) -> bool {
        self.calls.values().all(|call| call.has_ended)
    }

    /// No command was lost that rode in a snapshot which is whole. One that is told of at the player's own
    /// creature is always in range.
    pub(super) fn check_commands(&self, issued: &[Issued]) -> Result<(), String> {
        let Some(first) = self.completed.first() else {
            return Ok(());
        };
        for (number, issued) in issued.iter().enumerate() {
            if issued.player.is_none() || issued.player != self.id || issued.at <= *first {
                continue;
            }
            // Later ones may come when they are too old to be played.
            let riding = issued.at.next()..SnapshotSeq(issued.at.0 + 20);
            if self.completed.range(riding).next().is_some() && !self.commands.contains(&number) {
                return Err(format!("command {number} of {} was lost", issued.at));
            }
        }
        Ok(())
    }

    fn notice(&mut self, now: Instant) {
        while let Some(event) = self.client.poll_event() {
            let snapshot = match &event {
                ClientEvent::Snapshot(whole) => {
                    if whole.is_newest
                        && let Some(mode) = self.client.mode()
                    {
                        self.modes.push((now, mode));
                    }
                    self.client.snapshot(whole.sequence).cloned()
                }
                _ => None,
            };
            self.noticed.push((event, snapshot));
        }
    }
}

impl Session for Viewer {
    fn handle_datagram(&mut self, now: Instant, from: Addr, bytes: &[u8]) {
        self.client.handle_datagram(now, from, bytes);
        self.notice(now);
    }
    fn handle_stream(&mut self, now: Instant, on: StreamId, bytes: &[u8]) {
        self.client.handle_stream(now, on, bytes);
        self.notice(now);
    }
    fn handle_timeout(&mut self, now: Instant) {
        self.client.handle_timeout(now);
        self.notice(now);
    }
    fn handle_closed(&mut self, now: Instant, path: Path, why: Ended) {
        self.client.handle_closed(now, path, why);
        self.notice(now);
    }

    pass_on_session!(self => self.client; handle_opened handle_room poll_transmit poll_timeout is_reading
        set_busy shut_down is_finished visit_peers visit_counters);
}
