//! What a recorded game of our own protocol costs, field by field, and a prior that makes it cost less.
//!
//! In: a recording, of a client or of a server. Out: bits, and a prior. The recording is played back to a client, whose
//! replica is watched.

use tickwire_native::{Client, ClientConfig, Game, Role, Training};
use tickwire_session::Session as _;
use tickwire_session::tap::{Record, Recorded, Recording};
use tickwire_wire::DecodeError;

use super::Start;
use super::peer::Peer;

/// What was found in a recording.
#[derive(Debug)]
pub struct Trained {
    /// What the recording costs with the prior that fits any game, and with its own: field by field.
    pub rows: Vec<Row>,
    /// Bits of newcomers, texts and jumps, which cost the same with both.
    pub plain: u64,
    /// How many sends were whole.
    pub sends: u64,
    /// How many entities were in blocks that changed, over all sends.
    pub entities: u64,
    /// The prior of the recording.
    pub prior: Vec<u8>,
}

/// One field.
#[derive(Debug)]
pub struct Row {
    /// What has it.
    pub thing: String,
    /// Its name; of none, who came, went and changed.
    pub field: Option<&'static str>,
    /// Bits with the prior that fits any game.
    pub general: f64,
    /// Bits with the recording's own.
    pub fitted: f64,
}

/// Why nothing was found.
#[derive(Debug)]
pub enum NotTrained {
    /// It is a recording of another protocol, or none.
    NotNative,
    /// A record is broken.
    Broken(DecodeError),
    /// No send of it is whole.
    Empty,
}

/// Watches a recording of the arena over the native protocol.
pub fn train(recording: Recording<'_>) -> Result<Trained, NotTrained> {
    crate::gateway::native::train(recording)
}

/// The same of any game.
pub(crate) fn train_as<G: Game>(recording: Recording<'_>) -> Result<Trained, NotTrained> {
    let mut watched: Option<(Client<G>, Option<Peer>)> = None;
    let mut training = Training::<G>::default();
    let mut said = Vec::new();
    for record in recording {
        let (now, record) = record.map_err(NotTrained::Broken)?;
        if let Record::About(about) = &record {
            let start = Start::read(now, about).map_err(NotTrained::Broken)?;
            let start = start.filter(|it| it.protocol.name == "native");
            let Start { server, name, .. } = start.ok_or(NotTrained::NotNative)?;
            let (role, peer) = match about.side {
                Recorded::Client => (Role::Player, None),
                Recorded::Server => (Role::Spectator, Some(Peer::new(about.peer, server))),
            };
            let client = Client::new(now, ClientConfig { server, name, role });
            watched = Some((client, peer));
        }
        let (client, peer) = watched.as_mut().ok_or(NotTrained::NotNative)?;
        match (peer, &record) {
            (Some(peer), record) => peer.apply(now, record, client),
            (None, Record::Input(input)) => input.apply_to(client, now),
            (None, _) => {}
        }
        while client.poll_transmit(now, &mut said).is_some() {
            said.clear();
        }
        client.update(now);
        while tickwire_session::Events::poll_event(client).is_some() {}
        if let Some(replica) = client.replica() {
            training.observe(replica);
        }
    }
    if training.sends() == 0 {
        return Err(NotTrained::Empty);
    }
    let prior = training.fit();
    let general = training.costs(&training.general());
    let fitted = training.costs(&prior);
    let rows = general
        .into_iter()
        .zip(fitted)
        .map(|(general, fitted)| Row {
            thing: training.name(general.archetype).into(),
            field: general.field,
            general: general.bits,
            fitted: fitted.bits,
        });
    Ok(Trained {
        rows: rows.collect(),
        plain: training.plain_bits(),
        sends: training.sends(),
        entities: training.entities(),
        prior: prior.to_bytes(),
    })
}
