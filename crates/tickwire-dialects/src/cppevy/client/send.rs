//! What the client sends: actions by stream; its token, requests and inputs by datagram.

use alloc::vec::Vec;

use tickwire_session::{Instant, Transmit};

use super::{Client, Phase};
use crate::cppevy::ActionId;
use crate::cppevy::limits::{ATTACH_PERIOD, KEEP_ALIVE, STREAM_KEEP_ALIVE};
use crate::cppevy::message::{Data, Object, PayloadWriter};
use crate::cppevy::outgoing::takes_payloads;

impl Client {
    pub(super) fn write_stream(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        if self.phase == Phase::Dialling {
            return None;
        }
        let timestamp = self.timestamp(now);
        while let Some((action, data)) = self.actions.poll_send(now) {
            let data = Data::new(data).unwrap_or_default();
            self.stream
                .push(timestamp, &Object::Action { action, data });
        }
        if now >= self.uplink.stream_sent() + STREAM_KEEP_ALIVE {
            self.stream.keep_alive(timestamp);
        }
        let before = out.len();
        let objects = self.stream.write(self.uplink.stream_room(), out)?;
        self.uplink.traffic.messages_out += objects;
        Some(self.uplink.sent_on_stream(now, out.len() - before))
    }

    pub(super) fn write_datagram(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        if !takes_payloads(self.uplink.datagram_room()) {
            return None;
        }
        let token = self.uplink.due_token(now);
        let token = token.filter(|_| self.phase == Phase::Attaching);
        let news = !(self.inputs.is_empty() && self.requests.is_empty());
        let idle = now >= self.uplink.datagram_sent() + KEEP_ALIVE;
        if token.is_none() && !(self.phase == Phase::Playing && (news || idle)) {
            return None;
        }
        let timestamp = self.timestamp(now);
        let mut payload = PayloadWriter::new(out, timestamp);
        let mut objects = 0;
        if let Some(token) = token {
            let data = token.0.to_le_bytes();
            let data = Data::new(&data).unwrap_or_default();
            let action = ActionId::ATTACH;
            objects += u64::from(payload.push(&Object::Action { action, data }).is_ok());
            self.uplink.set_attach_at(now + ATTACH_PERIOD);
            let (tries, first) = self.attach_tries.unwrap_or((0, now));
            self.attach_tries = Some((tries + 1, first));
        }
        while let Some(&state) = self.requests.first()
            && payload.push(&Object::StateRequest { state }).is_ok()
        {
            self.requests.pop_first();
            objects += 1;
        }
        while let Some(input) = self.inputs.first_entry() {
            let action = *input.key();
            let data = Data::new(input.get()).unwrap_or_default();
            if payload.push(&Object::Action { action, data }).is_err() {
                break;
            }
            input.remove();
            objects += 1;
        }
        let bytes = payload.finish();
        self.uplink.traffic.messages_out += objects;
        Some(self.uplink.sent_datagram(now, bytes))
    }
}
