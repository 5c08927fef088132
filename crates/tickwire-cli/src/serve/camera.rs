//! Somebody who looks on for a recording: a client over a memory link, whose traffic is in the server's
//! recording with everybody else's.
//!
//! It asks to be told everything anew from time to time, so that the recording can be played back from there.
//! Protocols without onlookers have none; their recordings are played back for one of the players.

use std::time::Duration;

use tickwire_demo::gateway::{self, Protocol, Spectator, Status};
use tickwire_demo::recording::Log;
use tickwire_net::{Driver, NodeId};
use tickwire_session::{Instant, Session};

use crate::record::{NOBODY, RecordFile};

/// Between two times that it is told everything.
const ANEW_EVERY: Duration = Duration::from_secs(2);

/// The onlooker of a recording.
pub(super) struct Camera {
    client: Box<dyn Spectator>,
    log: Log,
    next: Instant,
}

impl Camera {
    /// Begins the recordings: each says what it is of. Connects an onlooker to the protocol that knows such
    /// people, if it is recorded; its node follows those that are there.
    pub(super) fn install(
        driver: &mut Driver,
        doors: &[(&'static Protocol, NodeId)],
        records: &[RecordFile],
    ) -> Option<Self> {
        let mut camera = None;
        for ((protocol, node), record) in doors.iter().zip(records) {
            let now = driver.now();
            let mut watcher = NOBODY;
            if camera.is_none() && gateway::knows_spectators(protocol) {
                watcher = driver.link(*node).1;
                let client = gateway::watch(protocol, now, watcher);
                camera = client.map(|client| Self {
                    client,
                    log: record.log().clone(),
                    next: now,
                });
            }
            record.tell_server(now, protocol.name, watcher);
        }
        camera
    }

    pub(super) fn session(&mut self) -> &mut dyn Session {
        self.client.session()
    }

    pub(super) fn step(&mut self, now: Instant) {
        // What it hears is for the recording.
        self.client.collect(now, &mut Vec::new());
        if now >= self.next && self.client.status() == Status::Playing {
            self.next = now + ANEW_EVERY;
            self.client.ask_anew();
            self.log.mark(now);
        }
    }
}
