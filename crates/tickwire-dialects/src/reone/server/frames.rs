//! What clients' streams make the server do.

use alloc::boxed::Box;
use alloc::string::{String, ToString as _};

use tickwire_session::{CallStatus, Instant, PeerId, StreamId, Token};
use tickwire_wire::Full;

use super::client::{Client, Loading, Removed, Stage};
use super::connection::Talk;
use super::event::{Departure, Question};
use super::limits::{GOODBYE_PATIENCE, LOADING_PATIENCE};
use super::{Server, ServerEvent, client_id};
use crate::reone::message::{Call, CallError, DownFrame, Refusal, Status, UpFrame, VERSION};
use crate::reone::{CallId, Remark, Text};

impl Server {
    pub(super) fn receive_stream(&mut self, now: Instant, on: StreamId, bytes: &[u8]) {
        let Some(id) = self.peers.on_stream(on) else {
            return;
        };
        let Some(peer) = self
            .peers
            .get_mut(id)
            .filter(|peer| !peer.link.is_closing())
        else {
            return;
        };
        peer.link.traffic.received(bytes.len());
        let mut inbox = core::mem::take(&mut peer.state.inbox);
        match inbox.receive(bytes, |frame| self.handle_frame(now, id, &frame)) {
            Ok(()) => {
                if let Some(peer) = self.peers.get_mut(id) {
                    peer.state.inbox = inbox;
                }
            }
            // Where the next frame would begin is not known any more.
            Err(_) => self.refuse(now, id, Refusal::MALFORMED),
        }
    }

    fn handle_frame(&mut self, now: Instant, id: PeerId, frame: &UpFrame<'_>) {
        let Some(peer) = self.peers.get_mut(id) else {
            return;
        };
        match (&mut peer.state.talk, *frame) {
            (Talk::Over, _) => {}
            (Talk::Greeting, UpFrame::Hello { version, name }) => match version {
                VERSION => self.welcome(now, id, name),
                _ => self.refuse(now, id, Refusal::VERSION),
            },
            (Talk::Greeting, _) => self.refuse(now, id, Refusal::HELLO),
            (Talk::Client(client), frame) => {
                client.advance(now);
                peer.link.traffic.messages_in += 1;
                self.handle_client(now, id, &frame);
            }
        }
    }

    fn handle_client(&mut self, now: Instant, id: PeerId, frame: &UpFrame<'_>) {
        match *frame {
            UpFrame::Hello { version, .. } => self.handle_hello_again(now, id, version),
            UpFrame::Fetch { name, offset } => self.handle_fetch(now, id, name, offset),
            UpFrame::Loaded => self.handle_loaded(now, id),
            UpFrame::Call {
                id: call,
                method,
                argument,
            } => self.handle_call(id, call, method, argument),
        }
    }

    fn welcome(&mut self, now: Instant, id: PeerId, name: Text<'_>) {
        if self.clients().count() >= self.clients_max && !self.free_place(now) {
            self.counters.full += 1;
            self.refuse(now, id, Refusal::FULL);
            return;
        }
        if let Err(why) = self.peers.admit(now, id) {
            self.counters.not_admitted += 1;
            let text = why.to_string();
            let text = Remark::new(text.as_bytes()).unwrap_or_default();
            let reason = Refusal::FULL;
            let last = DownFrame::Refused { reason, text };
            self.dismiss(now, id, &last, Departure::Undecodable);
            return;
        }
        let Some(token) = self.peers.issue_token(id) else {
            return;
        };
        let client = Client::new(now, name.as_str(), token);
        let deadline = client.deadline();
        let Some(peer) = self.peers.get_mut(id) else {
            return;
        };
        peer.state.talk = Talk::Client(Box::new(client));
        let addr = peer.link.stream_addr();
        self.peers.set_deadline(id, deadline);
        self.send_welcome(id, token);
        self.events.push_back(ServerEvent::Connected {
            client: client_id(id),
            name: name.as_str().into(),
            addr,
        });
    }

    /// Takes the place of whoever was removed longest ago, and has only its stream left.
    fn free_place(&mut self, now: Instant) -> bool {
        let removed = self.peers.iter().filter_map(|(id, peer)| {
            let Stage::Removed(Removed { since, .. }) = peer.state.client()?.stage else {
                return None;
            };
            Some((since, id))
        });
        let Some((_, id)) = removed.min() else {
            return false;
        };
        let last = DownFrame::refused(Refusal::FULL);
        self.dismiss(now, id, &last, Departure::Replaced);
        true
    }

    fn send_welcome(&mut self, id: PeerId, token: Token) {
        let module = &self.module;
        let Some(peer) = self.peers.get_mut(id) else {
            return;
        };
        let pushed = peer.state.push(&DownFrame::Welcome {
            client: client_id(id),
            token,
            module: module.number,
            name: module.name(),
        });
        self.note_pushed(id, pushed);
    }

    /// After a change of module, a client may begin with the handshake again, once.
    fn handle_hello_again(&mut self, now: Instant, id: PeerId, version: u16) {
        let token = self
            .peer_client(id)
            .filter(|_| version == VERSION)
            .and_then(|client| client.greet_again(now).then_some(client.token));
        match token {
            Some(token) => {
                self.reset_deadline(now, id);
                self.send_welcome(id, token);
            }
            None => self.refuse(now, id, Refusal::HELLO),
        }
    }

    /// Tells a client that there is another module.
    pub(super) fn tell_module(&mut self, id: PeerId) {
        let module = &self.module;
        let Some(peer) = self.peers.get_mut(id) else {
            return;
        };
        let pushed = peer.state.push(&DownFrame::ModuleChanged {
            module: module.number,
            name: module.name(),
        });
        self.note_pushed(id, pushed);
    }

    fn handle_fetch(&mut self, now: Instant, id: PeerId, name: Text<'_>, offset: u64) {
        let Some(peer) = self.peers.get_mut(id) else {
            return;
        };
        match peer.state.fetch(&self.module.shelf, name.as_str(), offset) {
            Ok(is_there) => {
                self.counters.fetch_refused += u64::from(!is_there);
                self.peers.mark_ready(id);
            }
            Err(Full) => self.refuse(now, id, Refusal::TOO_SLOW),
        }
    }

    fn handle_loaded(&mut self, now: Instant, id: PeerId) {
        let Some(client) = self.peer_client(id) else {
            return;
        };
        match client.stage {
            Stage::Loading(Loading {
                has_pinged: true, ..
            }) => self.begin_joining(id),
            Stage::Loading(_)
            | Stage::Removed(Removed {
                is_loaded: false, ..
            }) => {
                let until = now + LOADING_PATIENCE;
                client.stage = Stage::Loaded { until };
                self.reset_deadline(now, id);
            }
            // Said again it changes nothing.
            _ => {}
        }
    }

    fn handle_call(&mut self, id: PeerId, call: CallId, method: Text<'_>, argument: &[u8]) {
        let question = match Call::decode(method, argument) {
            Ok(call) => Ok(Question::from(&call)),
            Err(CallError::UnknownMethod) => Ok(Question::Other {
                method: method.as_str().into(),
                argument: argument.into(),
            }),
            Err(CallError::BadArgument(_)) => Err(Status::BadArgument),
        };
        let Some(peer) = self.peers.get_mut(id) else {
            return;
        };
        let Some(client) = peer.state.client_mut() else {
            return;
        };
        let number = tickwire_session::CallId(call.0);
        let asked = question.and_then(|question| {
            match client.calls.admit(&self.methods, number, method.as_str()) {
                Ok(&()) => Ok(question),
                Err(CallStatus::UnknownMethod) => Err(Status::UnknownMethod),
                Err(_) => Err(Status::Refused),
            }
        });
        match asked {
            Ok(question) => self.events.push_back(ServerEvent::Called {
                client: client_id(id),
                call,
                question,
            }),
            Err(status) => {
                match status {
                    Status::UnknownMethod => self.counters.call_unknown += 1,
                    Status::BadArgument => self.counters.call_bad_argument += 1,
                    Status::Refused | Status::Ok => self.counters.call_refused += 1,
                }
                peer.link.refused += 1;
                let refused = DownFrame::Result {
                    id: call,
                    status,
                    answer: &[],
                };
                self.send(id, &refused);
            }
        }
    }

    /// Queues a frame for a client.
    pub(super) fn send(&mut self, id: PeerId, frame: &DownFrame<'_>) {
        if let Some(peer) = self.peers.get_mut(id) {
            let pushed = peer.state.push(frame);
            self.note_pushed(id, pushed);
        }
    }

    /// A frame was queued, or the client is cut off because it does not read.
    fn note_pushed(&mut self, id: PeerId, pushed: Result<(), Full>) {
        match pushed {
            Ok(()) => {
                if let Some(peer) = self.peers.get_mut(id) {
                    peer.link.traffic.messages_out += 1;
                }
                self.peers.mark_ready(id);
            }
            Err(Full) => {
                self.counters.fell_behind += 1;
                self.cut(id);
            }
        }
    }

    /// Says why, and ends a stream.
    pub(super) fn refuse(&mut self, now: Instant, id: PeerId, reason: Refusal) {
        let departure = match reason {
            Refusal::SHUTDOWN => Departure::ShutDown,
            Refusal::TOO_SLOW => Departure::FellBehind,
            _ => Departure::Undecodable,
        };
        match departure {
            Departure::Undecodable if reason != Refusal::FULL => {
                self.counters.undecodable_stream += 1;
            }
            Departure::FellBehind => self.counters.fell_behind += 1,
            _ => {}
        }
        self.dismiss(now, id, &DownFrame::refused(reason), departure);
    }

    /// Says a last word, and ends a stream when it was read.
    pub(super) fn dismiss(
        &mut self,
        now: Instant,
        id: PeerId,
        last: &DownFrame<'_>,
        why: Departure,
    ) {
        let peer = self.peers.get_mut(id);
        let Some(peer) = peer.filter(|peer| !peer.link.is_closing()) else {
            return;
        };
        match peer.state.end(last) {
            Ok(talk) => {
                self.peers.close(id, now + GOODBYE_PATIENCE);
                self.note_gone(id, talk, why);
            }
            Err(Full) => self.cut(id),
        }
    }

    /// Ends a stream whose peer does not read.
    fn cut(&mut self, id: PeerId) {
        if let Some(peer) = self.peers.abort(id) {
            self.note_gone(id, peer.state.talk, Departure::FellBehind);
        }
    }
}

impl From<&Call<'_>> for Question {
    fn from(call: &Call<'_>) -> Self {
        let owned = |text: Text<'_>| String::from(text.as_str());
        match *call {
            Call::Resref(object) => Self::Resref(object),
            Call::Inventory(object) => Self::Inventory(object),
            Call::Global(name) => Self::Global(owned(name)),
            Call::Local(name) => Self::Local(owned(name)),
            Call::Log(line) => Self::Log(owned(line)),
        }
    }
}
