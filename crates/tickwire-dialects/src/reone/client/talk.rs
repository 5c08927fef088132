//! What the application says: events to the game, and calls.

use alloc::string::String;

use tickwire_session::{EndedCall, Instant};

use super::call::{Asked, CallReply};
use super::limits::{CALLS_BYTES, EVENTS_WAITING};
use super::snapshot::Snapshot;
use super::{AskError, Client, ClientEvent, Phase, SendError};
use crate::reone::limits::CALL_MAX;
use crate::reone::message::{self, UpFrame};
use crate::reone::{CallId, EventId, ObjectId, Text};

impl Client {
    /// Tells the game something; it hears it exactly once, and in order.
    ///
    /// It is repeated until acknowledged, as long as the connection lasts.
    pub fn send_event(&mut self, kind: u8, content: &[u8]) -> Result<EventId, SendError> {
        if !self.is_initialised() {
            return Err(SendError::NotReady);
        }
        self.packets.push(kind, content, self.showing.tick())
    }

    /// Tells the game something once; it may be lost.
    pub fn send_unreliable(&mut self, kind: u8, content: &[u8]) -> Result<(), SendError> {
        if !self.is_initialised() {
            return Err(SendError::NotReady);
        }
        self.packets.push_once(kind, content)
    }

    /// Asks the server something that the protocol knows.
    pub fn ask(&mut self, now: Instant, call: message::Call<'_>) -> Result<CallId, AskError> {
        let mut argument = core::mem::take(&mut self.scratch);
        argument.clear();
        call.encode(&mut argument);
        let method = call.method();
        let asked = self.begin_call(now, Asked::Typed(method), method.name(), &argument);
        self.scratch = argument;
        asked
    }

    /// Asks the server something that only the game knows.
    pub fn call(
        &mut self,
        now: Instant,
        method: Text<'_>,
        argument: &[u8],
    ) -> Result<CallId, AskError> {
        self.begin_call(now, Asked::Game, method, argument)
    }

    fn begin_call(
        &mut self,
        now: Instant,
        asked: Asked,
        method: Text<'_>,
        argument: &[u8],
    ) -> Result<CallId, AskError> {
        let is_connected = self.connection.link.token().is_some();
        if !is_connected || self.is_over() || self.phase == Phase::Reconnecting {
            return Err(AskError::NotConnected);
        }
        if argument.len() > CALL_MAX {
            return Err(AskError::TooLong);
        }
        // What ended waits for the application, and is not dropped.
        let has_room = self.connection.outbox.waiting() + argument.len() < CALLS_BYTES;
        if !has_room || self.events.len() >= EVENTS_WAITING {
            return Err(AskError::TooMany);
        }
        let id = self.calls.ask(now, asked).map_err(|_| AskError::TooMany)?;
        let id = CallId(id.0);
        self.say(&UpFrame::Call {
            id,
            method,
            argument,
        });
        Ok(id)
    }

    /// Asks what the creatures of the newest snapshot are, as far as it is not known.
    pub(super) fn ask_resrefs(&mut self, now: Instant, newest: &Snapshot) {
        let Some(module) = self.module() else {
            return;
        };
        let mut resrefs = core::mem::take(&mut self.resrefs);
        resrefs.ask(now, newest, |id| {
            let argument = id.0.to_le_bytes();
            let method = message::Method::Resref.name();
            let asked = Asked::Creature(id, module);
            self.begin_call(now, asked, method, &argument).is_ok()
        });
        self.resrefs = resrefs;
    }

    /// Tells what came of the calls that ended.
    pub(super) fn take_results(&mut self) {
        while let Some(EndedCall { id, asked, outcome }) = self.calls.poll_ended() {
            let outcome = asked.read(outcome);
            match asked {
                Asked::Creature(creature, module) => {
                    if self.module() == Some(module) {
                        let resref = match outcome {
                            Ok(CallReply::Resref(resref)) => Some(resref),
                            _ => None,
                        };
                        self.handle_resref(creature, resref);
                    }
                }
                Asked::Typed(_) | Asked::Game => {
                    let id = CallId(id.0);
                    self.tell(ClientEvent::CallEnded { id, outcome });
                }
            }
        }
    }

    fn handle_resref(&mut self, id: ObjectId, resref: Option<String>) {
        // A question that timed out has waited long enough by then.
        let now = self.connection.link.last_heard();
        self.resrefs.answer(now, id, resref.as_deref());
        if let Some(resref) = resref {
            self.tell(ClientEvent::Known { id, resref });
        }
    }
}
