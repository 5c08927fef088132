//! lwar's bugs for a saboteur.

use std::collections::BTreeMap;

use tickwire_dialects::lwar::message::{Framed, Reliable};
use tickwire_dialects::lwar::{Header, Reader};
use tickwire_session::Addr;

use crate::sabotage::{Spoil, Symptom};

/// What a bad server would do.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Bug {
    /// Each reliable message is sent once, lost or not.
    ResendForgotten,
    /// Acknowledges the message after the last one that it processed.
    AckOffByOne,
}

impl Symptom for Bug {
    fn symptom(self) -> &'static str {
        match self {
            Self::ResendForgotten => "a client sees",
            Self::AckOffByOne => "chats reached the server",
        }
    }
}

/// A bug, and what it has to remember.
#[derive(Debug)]
pub(crate) struct Planted {
    pub(crate) bug: Bug,
    /// The newest reliable message that each client was sent.
    sent: BTreeMap<Addr, u32>,
}

impl Planted {
    pub(crate) const fn new(bug: Bug) -> Self {
        Self {
            bug,
            sent: BTreeMap::new(),
        }
    }
}

impl Spoil for Planted {
    fn spoil(&mut self, to: Addr, packet: &[u8]) -> Vec<u8> {
        let mut r = Reader::new(packet);
        let mut header = Header::decode(&mut r).expect("a server's own packet");
        if self.bug == Bug::AckOffByOne {
            header.ack += 1;
        }
        let mut out = Vec::new();
        let mut w = header.begin(&mut out);
        while !r.is_empty() {
            let message = Framed::decode(&mut r).expect("a server's own message");
            if let Framed::Reliable {
                seq,
                content: Ok(content),
            } = message
            {
                let newest = self.sent.entry(to).or_default();
                let first = matches!(content, Reliable::Join { .. }) && seq == 1;
                // A Join that answers a Connect is no resend: without it nobody would get in.
                if self.bug == Bug::ResendForgotten && seq <= *newest && !first {
                    continue;
                }
                *newest = seq.max(*newest);
            }
            message.encode(&mut w);
        }
        out
    }
}
