//! Content on its way from a client.
//!
//! In: an offer, the game's consent, then pieces in order. Out: the whole content once, as it was offered.
//! Whatever else comes ends it, and nothing of it is kept.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use tickwire_session::bulk::{self, Fetching, Manifest};
use tickwire_session::{Instant, PeerId, Reason};

use super::action_queue::{LineId, Via};
use super::{Departure, Server, ServerEvent};
use crate::cppevy::SyncId;
use crate::cppevy::limits::{UPLOAD_MAX, UPLOAD_PATIENCE};
use crate::cppevy::message::{Data, Offer, Piece};

/// What one client sends.
#[derive(Debug)]
pub(super) struct Upload {
    name: String,
    size: u64,
    received: Fetching,
    /// When it has to be there; none before the game consents.
    until: Option<Instant>,
}

/// The content is not what was offered.
struct Broken;

impl Upload {
    /// `None` if there is nothing in it, or no file could have such a name.
    pub(super) fn new(offer: &Offer<'_>) -> Option<Self> {
        let Offer { size, hash, name } = *offer;
        let listed = Manifest::parse(format!("{hash} {size} {name}").as_bytes()).ok()?;
        let mut received = Fetching::new(&listed, |_| false).ok()?;
        received.poll_request()?;
        Some(Self {
            name: name.into(),
            size: size.into(),
            received,
            until: None,
        })
    }

    /// When it will have taken too long.
    pub(super) const fn deadline(&self) -> Option<Instant> {
        self.until
    }

    /// Takes a piece; the content, if that was the last.
    fn handle_piece(&mut self, piece: &Piece<'_>) -> Result<Option<Vec<u8>>, Broken> {
        let piece = bulk::Piece {
            of: self.size,
            offset: piece.offset.into(),
            bytes: piece.bytes,
        };
        if piece.bytes.is_empty() || self.received.handle_piece(&self.name, piece).is_err() {
            return Err(Broken);
        }
        Ok(self.received.poll_fetched().map(|whole| whole.bytes))
    }
}

impl Server {
    /// A client has something for the server: the game is asked, if it can be had at all.
    pub(super) fn handle_offer(
        &mut self,
        now: Instant,
        id: PeerId,
        line: LineId,
        data: Data<'_>,
    ) -> Result<(), Departure> {
        let refusal = match Offer::decode(data.bytes()) {
            _ if line.via == Via::Datagrams => Some(self.wrong_path()),
            Err(_) => Some(self.bad_data()),
            Ok(_) if self.config.uploads == 0 => Some(Reason::Disabled),
            Ok(offer) => self.take_offer(id, &offer).err(),
        };
        match refusal {
            None => self.handle_game_action(now, id, line, data),
            // Behind another offer, which the game has not decided about.
            Some(reason) => {
                if let Some(peer) = self.peers.get_mut(id) {
                    peer.link.refused += u64::from(reason == Reason::Error);
                    let refused = peer.state.actions.refuse(line, reason);
                    refused.map_err(|_| Departure::FellBehind)?;
                }
                self.take_turns(now, id, line);
                Ok(())
            }
        }
    }

    fn take_offer(&mut self, id: PeerId, offer: &Offer<'_>) -> Result<(), Reason> {
        let peer = self.peers.get_mut(id).ok_or(Reason::Unavailable)?;
        if peer.state.upload.is_some() {
            return Err(Reason::Busy);
        }
        let fits = offer.size <= self.config.uploads.min(UPLOAD_MAX);
        let upload = Upload::new(offer).filter(|_| fits).ok_or_else(|| {
            self.counters.upload_refused += 1;
            Reason::Error
        })?;
        peer.state.upload = Some(upload);
        Ok(())
    }

    /// The game has decided about an offer.
    pub(super) fn settle_offer(&mut self, now: Instant, id: PeerId, consents: bool) {
        let until = now + UPLOAD_PATIENCE;
        if let Some(peer) = self.peers.get_mut(id) {
            match &mut peer.state.upload {
                Some(upload) if consents => upload.until = Some(until),
                upload => *upload = None,
            }
        }
        self.peers.bring_forward(id, until);
    }

    /// A piece of what was offered.
    pub(super) fn handle_upload_piece(
        &mut self,
        id: PeerId,
        line: LineId,
        (actor, data): (SyncId, Data<'_>),
    ) -> Result<Vec<u8>, Reason> {
        if line.via == Via::Datagrams {
            return Err(self.wrong_path());
        }
        let Ok(piece) = Piece::decode(data.bytes()) else {
            return Err(self.bad_data());
        };
        let peer = self.peers.get_mut(id).ok_or(Reason::Unavailable)?;
        let consented = |upload: &&mut Upload| upload.until.is_some();
        let upload = peer.state.upload.as_mut().filter(consented);
        match upload.ok_or(Reason::Unavailable)?.handle_piece(&piece) {
            Ok(None) => {}
            Ok(Some(bytes)) => {
                if let Some(Upload { name, .. }) = peer.state.upload.take() {
                    self.events
                        .push_back(ServerEvent::Uploaded { actor, name, bytes });
                }
            }
            Err(Broken) => {
                peer.state.upload = None;
                self.counters.upload_broken += 1;
                return Err(Reason::Error);
            }
        }
        Ok(Vec::new())
    }

    /// Forgets what takes longer than it may.
    pub(super) fn expire_upload(&mut self, now: Instant, id: PeerId) {
        if let Some(peer) = self.peers.get_mut(id)
            && let Some(until) = peer.state.upload.as_ref().and_then(Upload::deadline)
            && now >= until
        {
            peer.state.upload = None;
            self.counters.upload_stalled += 1;
        }
    }
}
