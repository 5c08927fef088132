//! `--capture FILE.pcapng`: what sessions say, in a file that Wireshark and `tickwire inspect` open.
//!
//! Observers are put around the sessions for each turn of the driver, and the file is written elsewhere: see
//! [`tickwire_capture`].

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use tickwire_capture::{Capture, End, Finished, Role, Wire};
use tickwire_session::tap::Tap;
use tickwire_session::{Instant, Session};

/// The option of every command that has sessions.
#[derive(Debug, clap::Args)]
pub(crate) struct CaptureArgs {
    /// Write what goes over the network to a pcapng file, for `tickwire inspect` and Wireshark. Above any encryption;
    /// addresses that a session does not know are made up.
    #[arg(long, value_name = "FILE.pcapng")]
    capture: Option<PathBuf>,
}

impl CaptureArgs {
    /// Begins the file, if one is wanted.
    pub(crate) fn create(&self, now: Instant) -> anyhow::Result<Option<CaptureFile>> {
        let create = |path: &PathBuf| CaptureFile::create(path, now);
        self.capture.as_ref().map(create).transpose()
    }
}

/// A capture under way.
#[derive(Debug)]
pub(crate) struct CaptureFile {
    path: PathBuf,
    capture: Capture,
    /// Of each session that is watched, in their order.
    wires: Vec<Wire>,
    /// How many clients there were, with those whose place another took.
    clients: u16,
}

impl CaptureFile {
    fn create(path: &Path, now: Instant) -> anyhow::Result<Self> {
        let cannot = || format!("cannot capture to {}", path.display());
        let file = File::create(path).with_context(cannot)?;
        Ok(Self {
            path: path.into(),
            capture: Capture::begin(file, now).with_context(cannot)?,
            wires: Vec::new(),
            clients: 0,
        })
    }

    /// Watches one session more.
    pub(crate) fn add(&mut self, protocol: &str, port: u16, role: Role) {
        let end = End { role, port };
        self.wires.push(self.capture.wire(protocol, end));
    }

    /// The same for a client, who is one of several in this process.
    pub(crate) fn add_client(&mut self, protocol: &str, port: u16) {
        self.clients = self.clients.saturating_add(1);
        self.add(protocol, port, Role::Client(self.clients));
    }

    /// Another client takes the place of one that left: it has an address of its own.
    pub(crate) fn renew_client(&mut self, place: usize, protocol: &str, port: u16) {
        self.add_client(protocol, port);
        self.wires.swap_remove(place);
    }

    /// Ends the file, and says what is in it.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        let path = self.path.display();
        let finished = self.capture.finish();
        let Finished { written, dropped } =
            finished.with_context(|| format!("{path} is not complete"))?;
        eprintln!("tickwire: captured {written} packets to {path}");
        if dropped > 0 {
            eprintln!("tickwire: {dropped} more are not in it: the disk was too slow");
        }
        Ok(())
    }
}

/// Runs something that drives sessions, with observers around them from the first on that is watched.
pub(crate) fn run<T>(
    capture: Option<&mut CaptureFile>,
    sessions: &mut [&mut dyn Session],
    first: usize,
    run: impl FnOnce(&mut [&mut dyn Session]) -> T,
) -> T {
    let Some(capture) = capture else {
        return run(sessions);
    };
    let (before, watched) = sessions.split_at_mut(first);
    let count = capture.wires.len().min(watched.len());
    let (watched, behind) = watched.split_at_mut(count);
    let wires = capture.wires.iter_mut();
    let taps = watched.iter_mut().zip(wires);
    let mut taps: Vec<_> = taps
        .map(|(session, wire)| Tap::new(&mut **session, wire))
        .collect();
    let mut all: Vec<&mut dyn Session> = Vec::new();
    all.extend(
        before
            .iter_mut()
            .map(|session| &mut **session as &mut dyn Session),
    );
    all.extend(taps.iter_mut().map(|tap| tap as &mut dyn Session));
    all.extend(
        behind
            .iter_mut()
            .map(|session| &mut **session as &mut dyn Session),
    );
    run(&mut all)
}
