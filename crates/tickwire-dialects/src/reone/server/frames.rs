//! What clients' streams make the server do.

use alloc::string::String;

use tickwire_session::{CallStatus, Instant, StreamId};
use tickwire_wire::Full;

use super::connection::Talk;
use super::event::{Departure, Question};
use super::limits::GOODBYE_PATIENCE;
use super::peer::{Peer, Stage};
use super::{Server, ServerEvent};
use crate::reone::message::{Call, CallError, DownFrame, Refusal, Status, UpFrame, VERSION};
use crate::reone::{CallId, ClientId, Text};

impl Server {
    pub(super) fn receive_stream(&mut self, now: Instant, on: StreamId, bytes: &[u8]) {
        let Some(connection) = self.connections.get_mut(&on) else {
            return;
        };
        let client = match connection.stage {
            Talk::Greeting { .. } => None,
            Talk::Client(client) => Some(client),
            Talk::Closing { .. } => return,
        };
        if let Some(peer) = client.and_then(|client| self.peers.get_mut(&client)) {
            peer.traffic.received(bytes.len());
        }
        let mut inbox = core::mem::take(&mut connection.inbox);
        let decoded = inbox.receive(bytes, |frame| self.handle_frame(now, on, &frame));
        match decoded {
            Ok(()) => {
                if let Some(connection) = self.connections.get_mut(&on) {
                    connection.inbox = inbox;
                }
            }
            // Where the next frame would begin is not known any more.
            Err(_) => self.refuse_stream(now, on, Refusal::MALFORMED),
        }
    }

    fn handle_frame(&mut self, now: Instant, on: StreamId, frame: &UpFrame<'_>) {
        let Some(connection) = self.connections.get(&on) else {
            return;
        };
        match (connection.stage, *frame) {
            (Talk::Closing { .. }, _) => {}
            (Talk::Greeting { .. }, UpFrame::Hello { version, name }) => match version {
                VERSION => self.welcome(now, on, name),
                _ => self.refuse_stream(now, on, Refusal::VERSION),
            },
            (Talk::Greeting { .. }, _) => self.refuse_stream(now, on, Refusal::HELLO),
            (Talk::Client(client), frame) => self.handle_client(now, on, client, &frame),
        }
    }

    fn handle_client(&mut self, now: Instant, on: StreamId, client: ClientId, frame: &UpFrame<'_>) {
        let Some(peer) = self.peers.get_mut(&client) else {
            return;
        };
        peer.traffic.messages_in += 1;
        match *frame {
            // After a change of module, a client may begin with the handshake again.
            UpFrame::Hello { version, .. } if version == VERSION && peer.may_greet => {
                peer.may_greet = false;
                self.send_welcome(client);
            }
            UpFrame::Hello { .. } => self.refuse_stream(now, on, Refusal::HELLO),
            UpFrame::Fetch { name, offset } => self.handle_fetch(now, on, name, offset),
            UpFrame::Loaded => self.handle_loaded(client),
            UpFrame::Call {
                id,
                method,
                argument,
            } => self.handle_call(client, id, method, argument),
        }
    }

    fn welcome(&mut self, now: Instant, on: StreamId, name: Text<'_>) {
        if self.peers.len() >= self.clients_max {
            self.counters.full += 1;
            self.refuse_stream(now, on, Refusal::FULL);
            return;
        }
        let Some(connection) = self.connections.get_mut(&on) else {
            return;
        };
        let client = ClientId(self.accepted);
        self.accepted = self.accepted.wrapping_add(1);
        connection.stage = Talk::Client(client);
        let addr = connection.addr;
        let name = String::from(name.as_str());
        let token = self.attachments.issue(client, addr.host);
        let peer = Peer::new(now, (on, addr), token, name.clone());
        self.peers.insert(client, peer);
        self.send_welcome(client);
        self.events
            .push_back(ServerEvent::Connected { client, name, addr });
    }

    fn send_welcome(&mut self, client: ClientId) {
        let Some(peer) = self.peers.get_mut(&client) else {
            return;
        };
        let (on, module) = (peer.stream, &self.module);
        let connection = self.connections.get_mut(&on);
        let pushed = connection.map(|connection| {
            connection.push(&DownFrame::Welcome {
                client,
                token: peer.token,
                module: module.number,
                name: module.name(),
            })
        });
        self.count_pushed(client, on, pushed);
    }

    /// Tells a client that there is another module.
    pub(super) fn tell_module(&mut self, client: ClientId) {
        let Some(peer) = self.peers.get_mut(&client) else {
            return;
        };
        let (on, module) = (peer.stream, &self.module);
        let connection = self.connections.get_mut(&on);
        let pushed = connection.map(|connection| {
            connection.push(&DownFrame::ModuleChanged {
                module: module.number,
                name: module.name(),
            })
        });
        self.count_pushed(client, on, pushed);
    }

    fn handle_fetch(&mut self, now: Instant, on: StreamId, name: Text<'_>, offset: u64) {
        let Some(connection) = self.connections.get_mut(&on) else {
            return;
        };
        match connection.fetch(&self.module.shelf, name.as_str(), offset) {
            Ok(is_there) => {
                self.counters.fetch_refused += u64::from(!is_there);
                self.wake_stream(on);
            }
            Err(Full) => self.refuse_stream(now, on, Refusal::TOO_SLOW),
        }
    }

    fn handle_loaded(&mut self, client: ClientId) {
        let Some(peer) = self.peers.get_mut(&client) else {
            return;
        };
        // Said again it changes nothing.
        if core::mem::replace(&mut peer.is_loaded, true) {
            return;
        }
        peer.stage = Stage::Loaded;
        if peer.has_pinged {
            self.begin_joining(client);
        }
    }

    fn handle_call(&mut self, client: ClientId, id: CallId, method: Text<'_>, argument: &[u8]) {
        let Some(peer) = self.peers.get_mut(&client) else {
            return;
        };
        let question = match Call::decode(method, argument) {
            Ok(call) => Ok(Question::from(&call)),
            Err(CallError::UnknownMethod) => Ok(Question::Other {
                method: method.as_str().into(),
                argument: argument.into(),
            }),
            Err(CallError::BadArgument(_)) => Err(Status::BadArgument),
        };
        let number = tickwire_session::CallId(id.0);
        let asked = question.and_then(|question| {
            match peer.calls.admit(&self.methods, number, method.as_str()) {
                Ok(&()) => Ok(question),
                Err(CallStatus::UnknownMethod) => Err(Status::UnknownMethod),
                Err(_) => Err(Status::Refused),
            }
        });
        match asked {
            Ok(question) => self.events.push_back(ServerEvent::Called {
                client,
                call: id,
                question,
            }),
            Err(status) => {
                match status {
                    Status::UnknownMethod => self.counters.call_unknown += 1,
                    Status::BadArgument => self.counters.call_bad_argument += 1,
                    Status::Refused | Status::Ok => self.counters.call_refused += 1,
                }
                peer.refused += 1;
                let answer = &[];
                self.send(client, &DownFrame::Result { id, status, answer });
            }
        }
    }

    /// Queues a frame for a client.
    pub(super) fn send(&mut self, client: ClientId, frame: &DownFrame<'_>) {
        let Some(on) = self.peers.get(&client).map(|peer| peer.stream) else {
            return;
        };
        let connection = self.connections.get_mut(&on);
        let pushed = connection.map(|connection| connection.push(frame));
        self.count_pushed(client, on, pushed);
    }

    /// A frame was queued, or the client is cut off because it does not read.
    fn count_pushed(&mut self, client: ClientId, on: StreamId, pushed: Option<Result<(), Full>>) {
        match pushed {
            Some(Ok(())) => {
                if let Some(peer) = self.peers.get_mut(&client) {
                    peer.traffic.messages_out += 1;
                }
                self.wake_stream(on);
            }
            Some(Err(Full)) => {
                self.counters.fell_behind += 1;
                self.cut(on);
            }
            None => {}
        }
    }

    /// Says why, and ends a stream.
    pub(super) fn refuse_stream(&mut self, now: Instant, on: StreamId, reason: Refusal) {
        let text = Text::new(reason.name()).unwrap_or_default();
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
        self.dismiss(now, on, &DownFrame::Refused { reason, text }, departure);
    }

    /// Says a last word, and ends a stream when it was read.
    pub(super) fn dismiss(
        &mut self,
        now: Instant,
        on: StreamId,
        last: &DownFrame<'_>,
        why: Departure,
    ) {
        let connection = self.connections.get_mut(&on);
        let Some(connection) = connection.filter(|connection| !connection.is_closing()) else {
            return;
        };
        let stage = core::mem::replace(
            &mut connection.stage,
            Talk::Closing {
                until: now + GOODBYE_PATIENCE,
            },
        );
        connection.forget_fetches();
        let pushed = connection.push(last);
        if let Talk::Client(client) = stage {
            self.forget(client, why);
        }
        match pushed {
            Ok(()) => self.wake_stream(on),
            Err(Full) => self.cut(on),
        }
    }

    /// Ends a stream whose peer does not read.
    pub(super) fn cut(&mut self, on: StreamId) {
        if let Some(connection) = self.connections.remove(&on) {
            self.aborts.push_back(on);
            if let Talk::Client(client) = connection.stage {
                self.forget(client, Departure::FellBehind);
            }
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
