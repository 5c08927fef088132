//! Everything of a server that is driven: the worlds with their protocols, the bots, and what is written down
//! of them.

use std::io;
use std::time::Duration;

use anyhow::Context;
use tickwire_demo::GameServer;
use tickwire_demo::gateway::Notice;
use tickwire_net::Driver;
use tickwire_net::rendezvous::Meeting;
use tickwire_session::{Instant, Session};

use super::camera::Camera;
use super::company::Company;
use super::drain::Drain;
use super::meter::Meter;
use crate::capture::{self, CaptureFile};
use crate::conditions::Lags;
use crate::metrics::Metrics;
use crate::quic;
use crate::record::RecordFile;
use crate::save::SaveFile;

/// How long a server that ends waits for its players to hear of it.
const FAREWELL: Duration = Duration::from_millis(1_200);

/// What runs, and what is written down of it.
pub(super) struct Game {
    pub(super) host: GameServer,
    pub(super) company: Company,
    pub(super) meter: Meter,
    pub(super) saves: Option<SaveFile>,
    /// One for each protocol, or none at all.
    pub(super) records: Vec<RecordFile>,
    /// Who looks on for a recording.
    pub(super) camera: Option<Camera>,
    /// What the servers' sessions say, in a file.
    pub(super) capture: Option<CaptureFile>,
    /// Where it is reached over QUIC.
    pub(super) encrypted: Option<quic::Listening>,
    pub(super) drain: Drain,
    /// The network that every client is on.
    pub(super) lags: Lags,
    pub(super) metrics: Option<Metrics>,
}

impl Game {
    /// Lets the driver have the sessions, with recorders on the servers' paths if they are recorded.
    pub(super) fn drive(
        &mut self,
        driver: &mut Driver,
        until: Instant,
        run: fn(&mut Driver, Instant, &mut [&mut dyn Session]) -> io::Result<()>,
    ) -> anyhow::Result<()> {
        let servers = self.host.sessions().into_iter();
        let mut taps = Vec::new();
        let mut sessions: Vec<&mut dyn Session> = if self.records.is_empty() {
            servers.collect()
        } else {
            let tapped = servers.zip(&mut self.records);
            taps.extend(tapped.map(|(session, record)| record.tap(session)));
            taps.iter_mut().map(|tap| tap as &mut dyn Session).collect()
        };
        let servers_count = sessions.len();
        let meeting = self
            .encrypted
            .as_mut()
            .and_then(|quic| quic.meeting.as_mut());
        sessions.extend(meeting.map(Meeting::session));
        sessions.extend(self.company.sessions());
        sessions.extend(self.camera.as_mut().map(Camera::session));
        let lags = &mut self.lags;
        let ran = capture::run(self.capture.as_mut(), &mut sessions, 0, |sessions| {
            lags.run(sessions, 0..servers_count, |sessions| {
                run(driver, until, sessions)
            })
        });
        ran.context("waiting for sockets failed")
    }

    /// Says what network everybody is on, and where metrics are, if whoever serves asked for it.
    pub(super) fn opening_notices(&self) -> impl Iterator<Item = Notice> {
        let network = self.lags.network();
        let network = network.map(|network| format!("every client is on this network: {network}"));
        let metrics = self.metrics.as_ref();
        let metrics = metrics.map(|metrics| format!("metrics at {}", metrics.url()));
        let texts = [network, metrics].into_iter().flatten();
        texts.map(|text| Notice::Said {
            name: "server".into(),
            text,
        })
    }

    /// Somebody asked for the end: nobody new is let in, and everybody is told how long there is. Says so once.
    pub(super) fn drain(&mut self, driver: &mut Driver) -> Option<Notice> {
        let patience = self.drain.begin(driver.now())?;
        if patience.is_zero() {
            return None;
        }
        self.host.set_busy(true);
        if let Some(encrypted) = &self.encrypted {
            encrypted.close_door(driver);
        }
        let seconds = patience.as_secs();
        let text = format!("the server ends in {seconds} s: please leave");
        self.host.tell_everybody(&text);
        let name = "server".into();
        Some(Notice::Said { name, text })
    }

    /// Peers that are not the server's own bots.
    pub(super) fn guests(&self) -> usize {
        self.host.peers().saturating_sub(self.company.count())
    }

    /// Ends the recordings.
    pub(super) fn finish_records(&mut self, now: Instant) -> anyhow::Result<()> {
        let mut records = self.records.iter_mut();
        records.try_for_each(|record| record.finish(now))
    }

    /// Tells every player that it is over.
    pub(super) fn farewell(&mut self, driver: &mut Driver) -> anyhow::Result<()> {
        let now = driver.now();
        self.host.shut_down(now);
        let deadline = now + FAREWELL;
        let is_open = |game: &Self, driver: &Driver| {
            !game.host.is_finished() || !game.lags.is_idle() || driver.closing_streams() > 0
        };
        while is_open(self, driver) && driver.now() < deadline {
            self.drive(driver, deadline, Driver::turn)?;
        }
        Ok(())
    }
}
