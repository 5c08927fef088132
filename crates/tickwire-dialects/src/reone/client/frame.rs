//! What the server's frames make the client do: it is welcomed, loads a module, and is refused.

use alloc::string::ToString as _;

use tickwire_session::Instant;
use tickwire_session::bulk::Piece;

use super::loading::{LoadFault, Loaded, PieceError, RefusedFetch};
use super::reception::Reception;
use super::{Client, ClientEvent, EndReason, Phase, call};
use crate::reone::message::{DownFrame, Refusal, UpFrame};
use crate::reone::{ModuleNumber, Remark, Text};

impl Client {
    pub(super) fn receive_stream(&mut self, now: Instant, bytes: &[u8]) {
        if self.is_over() {
            return;
        }
        self.connection.link.traffic.received(bytes.len());
        self.connection.link.heard(now);
        let mut inbox = core::mem::take(&mut self.connection.inbox);
        let stream = self.connection.link.stream();
        let decoded = inbox.receive(bytes, |frame| {
            self.connection.link.traffic.messages_in += 1;
            // A frame may have ended the connection that it and the rest came on.
            let is_open = !self.is_over() && self.phase != Phase::Reconnecting;
            if is_open && self.connection.link.stream() == stream {
                self.handle_frame(now, &frame);
            }
        });
        if self.connection.link.stream() == stream {
            self.connection.inbox = inbox;
        }
        if decoded.is_err() && !self.is_over() {
            self.counters.undecodable += 1;
            self.hang_up(EndReason::Undecodable);
        }
    }

    fn handle_frame(&mut self, now: Instant, frame: &DownFrame<'_>) {
        match *frame {
            DownFrame::Welcome {
                client,
                token,
                module,
                name,
            } => {
                if self.phase != Phase::Handshaking {
                    self.counters.unexpected += 1;
                    return;
                }
                let link = &mut self.connection.link;
                link.round_trip.add_sample(now.since(link.stream_sent()));
                link.set_token(now, token);
                self.connection.set_welcome();
                self.counters.event_lost += self.packets.restart() as u64;
                self.reception = Reception::new(now);
                self.commands.clear();
                self.tell(ClientEvent::Welcomed { client });
                self.begin_module(now, module, name);
            }
            DownFrame::Refused { reason, text } => self.handle_refusal(now, reason, text),
            _ if self.connection.link.token().is_none() => self.counters.unexpected += 1,
            DownFrame::Resource {
                name,
                total,
                offset,
                piece,
            } => {
                let piece = Piece {
                    of: total,
                    offset,
                    bytes: piece,
                };
                self.handle_piece(now, name, piece);
            }
            DownFrame::Result { id, status, answer } => {
                let id = tickwire_session::CallId(id.0);
                let status = call::status(status);
                if self.calls.handle_result(id, status, answer).is_err() {
                    self.counters.unasked_result += 1;
                }
                self.take_results();
            }
            DownFrame::ModuleChanged { module, name } => self.begin_module(now, module, name),
        }
    }

    /// Begins to load a module.
    fn begin_module(&mut self, now: Instant, module: ModuleNumber, name: Text<'_>) {
        self.reception.change_module(now);
        self.showing.clear();
        self.admission.change_module();
        // Moments go on through modules, so what came before is still known when it comes again.
        self.commands.drop_shots(|_| true);
        self.resrefs.clear();
        self.phase = Phase::Loading;
        let name = name.as_str().into();
        self.tell(ClientEvent::Loading { module, name });
        self.loader.begin(module);
        self.ask_resources();
    }

    fn ask_resources(&mut self) {
        while let Some(request) = self.loader.poll_request() {
            // Names of a manifest are strings of the protocol.
            let Ok(name) = Text::new(&request.name) else {
                self.hang_up(EndReason::Load(LoadFault::Manifest));
                return;
            };
            let offset = request.offset;
            self.say(&UpFrame::Fetch { name, offset });
        }
    }

    fn handle_piece(&mut self, now: Instant, name: Text<'_>, piece: Piece<'_>) {
        let mut loader = core::mem::take(&mut self.loader);
        let taken = loader.handle_piece(name.as_str(), piece, |loaded| match loaded {
            Loaded::Progress(progress) => self.tell(ClientEvent::Progress(progress)),
            Loaded::Resource(fetched) => self.tell(ClientEvent::Fetched(fetched)),
        });
        self.loader = loader;
        match taken {
            Ok(()) => self.ask_resources(),
            Err(PieceError::Unasked) => self.counters.unasked_piece += 1,
            Err(PieceError::Fault(fault, name)) => {
                if let (LoadFault::Mismatch, Some(name)) = (fault, name) {
                    self.tell(ClientEvent::BadResource { name });
                }
                self.hang_up(EndReason::Load(fault));
            }
        }
        self.finish_loading(now);
    }

    /// Goes on when everything is here.
    fn finish_loading(&mut self, now: Instant) {
        if self.is_over() || !self.loader.take_complete() {
            return;
        }
        self.reception.set_base(self.loader.base());
        self.say(&UpFrame::Loaded);
        self.phase = Phase::Initialising;
        self.admission.initialise(now);
        self.tell(ClientEvent::Loaded);
    }

    fn handle_refusal(&mut self, now: Instant, reason: Refusal, text: Remark<'_>) {
        let text = text.to_string();
        match self.loader.handle_refusal(reason) {
            Some(RefusedFetch::Stale) => {
                self.counters.unexpected += 1;
                return;
            }
            Some(RefusedFetch::Resource(name)) => {
                self.tell(ClientEvent::ResourceRefused { name, reason, text });
                self.ask_resources();
                self.finish_loading(now);
                return;
            }
            Some(RefusedFetch::Essential) | None => {}
        }
        self.tell(ClientEvent::Refused { reason, text });
        let is_first = self.phase == Phase::Handshaking && !self.connection.was_welcome();
        match reason {
            // Another time it may have a place, or be there again.
            Refusal::FULL | Refusal::TOO_SLOW | Refusal::SHUTDOWN if !is_first => {
                self.lose(now, EndReason::Refused(reason));
            }
            _ => self.hang_up(EndReason::Refused(reason)),
        }
    }
}
