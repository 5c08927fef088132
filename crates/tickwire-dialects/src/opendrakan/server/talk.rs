//! What the game says over streams: messages, animations, sounds.
//!
//! Each carries the moment of the tick that the game is working on, so that it is shown together with
//! what that tick changes.

use alloc::vec;
use alloc::vec::Vec;

use tickwire_session::Peer;
use tickwire_wire::display_enum;

use super::sending::real_time;
use super::{Server, peer_id};
use crate::opendrakan::limits::BODY_MAX;
use crate::opendrakan::message::Message;
use crate::opendrakan::{AssetRef, ClientId, ObjectId};

/// Whom to tell.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum To {
    /// Everybody who takes part.
    All,
    /// One client. If it is gone, nobody.
    One(ClientId),
}

/// A message between objects, without its words.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ObjectTalk {
    /// What it is about; the game's number.
    pub channel: u32,
    /// Who says it.
    pub sender: ObjectId,
    /// To whom.
    pub receiver: ObjectId,
}

/// An animation that begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Animation {
    /// Which object moves.
    pub object: ObjectId,
    /// How; the database is the server's number.
    pub animation: AssetRef,
    /// On which of the object's channels.
    pub channel: i32,
    /// 1 for the animation's own speed.
    pub speed: f32,
}

display_enum! {
    /// Why something cannot be said.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    #[non_exhaustive]
    pub enum SendError: Error {
        /// More than [`BODY_MAX`] bytes.
        TooLong => "a message has at most {BODY_MAX} bytes",
        /// The asset's database is not in the table.
        UnknownDatabase => "the database is not in the table",
        /// A speed that is no number.
        NotFinite => "a speed must be finite",
    }
}

impl Server {
    /// Sends a message over a channel. It arrives whole and in order, at no particular tick.
    pub fn send_global(&mut self, to: To, channel: u32, body: &[u8]) -> Result<(), SendError> {
        let message = Message::GlobalMessage {
            channel,
            real_time: self.pending_time(),
            body,
        };
        self.send(to, &message)
    }

    /// Sends a message from one object to another over a channel.
    pub fn send_object(&mut self, to: To, talk: ObjectTalk, body: &[u8]) -> Result<(), SendError> {
        let message = Message::ObjectMessage {
            channel: talk.channel,
            sender: talk.sender,
            receiver: talk.receiver,
            real_time: self.pending_time(),
            body,
        };
        self.send(to, &message)
    }

    /// Begins an animation of an object, for everybody.
    pub fn animate(&mut self, animation: Animation) -> Result<(), SendError> {
        let message = Message::ObjectAnimation {
            real_time: self.pending_time(),
            object: animation.object,
            animation: animation.animation,
            channel: animation.channel,
            speed: animation.speed,
        };
        self.send(To::All, &message)
    }

    /// Begins a sound, for everybody.
    pub fn play_sound(&mut self, sound: AssetRef) -> Result<(), SendError> {
        let real_time = self.pending_time();
        self.send(To::All, &Message::Sound { real_time, sound })
    }

    /// The moment of the tick that the game is working on.
    fn pending_time(&self) -> f64 {
        real_time(self.world.tick().next())
    }

    fn send(&mut self, to: To, message: &Message<'_>) -> Result<(), SendError> {
        self.validate(message)?;
        let meant: Vec<_> = match to {
            To::All => self.clients().map(peer_id).collect(),
            To::One(client) => vec![peer_id(client)],
        };
        for id in meant {
            let peer = self.peers.mark_ready(id);
            if let Some(Peer { link, state }) = peer.filter(|peer| peer.state.player().is_some())
                && state.push(link, message).is_err()
            {
                self.cut_off(id);
            }
        }
        Ok(())
    }

    /// Fails if no client could read it.
    fn validate(&self, message: &Message<'_>) -> Result<(), SendError> {
        let is_known = |asset: AssetRef| (asset.database.0 as usize) < self.databases.len();
        match *message {
            Message::GlobalMessage { body, .. } | Message::ObjectMessage { body, .. }
                if body.len() > BODY_MAX =>
            {
                Err(SendError::TooLong)
            }
            Message::ObjectAnimation { speed, .. } if !speed.is_finite() => {
                Err(SendError::NotFinite)
            }
            Message::ObjectAnimation {
                animation: asset, ..
            }
            | Message::Sound { sound: asset, .. }
                if !is_known(asset) =>
            {
                Err(SendError::UnknownDatabase)
            }
            _ => Ok(()),
        }
    }
}
