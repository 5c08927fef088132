//! The figures of a peer, under one set of names for every protocol.
//!
//! A protocol fills in what it measures; whoever shows or exports figures goes through [`PeerStats::visit`], so that a
//! name means the same everywhere.

use core::time::Duration;

use crate::{Addr, Instant, Updates};

/// One peer as an operator sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct PeerStats<'a> {
    /// What the peer calls itself; empty while unknown.
    pub name: &'a str,
    /// Where it was last heard from.
    pub addr: Addr,
    /// The word of the protocol's `STATES.md` for where it stands.
    pub state: &'static str,
    /// Smoothed round trip; `None` until one was measured.
    pub round_trip: Option<Duration>,
    /// Mean deviation of the round trip.
    pub jitter: Option<Duration>,
    /// What crossed the network.
    pub traffic: Traffic,
    /// Messages sent again because no acknowledgement had come; `None` where the carrier does that.
    pub resent: Option<u64>,
    /// Datagrams and messages of this peer that were refused.
    pub refused: u64,
    /// Share of the peer's packets that got lost on the way here, 0 to 1, where the protocol can tell.
    pub loss: Option<f32>,
    /// Share of the states meant for the peer that were held back because its path had no room, 0 to 1.
    pub choke: Option<f32>,
    /// The states of the world that came from a server, or that went to a client.
    pub updates: Updates,
    /// How far behind the newest state a client shows the world.
    pub interpolation: Option<Duration>,
    /// How far off the last prediction of the own entity was, in the game's units.
    pub prediction_error: Option<f32>,
    /// Bytes that wait to be sent, or for an acknowledgement, beside states, of which only the newest is kept.
    pub queued: Option<u64>,
}

/// What a number is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// As it is at this moment.
    Gauge,
    /// Counted from the beginning on.
    Counter,
}

/// The name of a figure.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Metric {
    /// In snake case; the last words are the unit.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub about: &'static str,
    /// What kind of number.
    pub kind: Kind,
}

macro_rules! metrics {
    ($($kind:ident $name:ident $text:literal $about:literal;)*) => {
        $(const $name: &Metric = &Metric { name: $text, about: $about, kind: Kind::$kind };)*
        /// Every figure of a peer that has a name.
        pub const METRICS: &[&Metric] = &[$($name),*];
    };
}

metrics! {
    Gauge ROUND_TRIP "round_trip_seconds" "Smoothed round trip.";
    Gauge JITTER "jitter_seconds" "Mean deviation of the round trip.";
    Gauge LOSS "loss_ratio" "Share of the peer's packets that were lost on the way here.";
    Gauge CHOKE "choke_ratio" "Share of the states that were held back because the path had no room.";
    Gauge INTERPOLATION "interpolation_delay_seconds" "How far behind the newest state the world is shown.";
    Gauge SNAPSHOT_AGE "snapshot_age_seconds" "How long ago the newest state came or went.";
    Gauge PREDICTION_ERROR "prediction_error_units" "How far off the last prediction was.";
    Gauge QUEUED "queued_bytes" "Bytes of messages that wait to be sent or acknowledged.";
    Counter RESENT "resent_total" "Messages sent again for lack of an acknowledgement.";
    Counter SNAPSHOTS "snapshots_total" "States of the world that came or went.";
    Counter REFUSED "refused_total" "Datagrams and messages of the peer that were refused.";
    Counter PACKETS_IN "packets_in_total" "Datagrams, or pieces of a stream, received.";
    Counter PACKETS_OUT "packets_out_total" "Datagrams, or pieces of a stream, sent.";
    Counter BYTES_IN "bytes_in_total" "Bytes received.";
    Counter BYTES_OUT "bytes_out_total" "Bytes sent.";
    Counter MESSAGES_IN "messages_in_total" "Messages received.";
    Counter MESSAGES_OUT "messages_out_total" "Messages sent, repetitions included.";
}

impl<'a> PeerStats<'a> {
    /// A peer of which nothing else is known yet.
    pub const fn new(name: &'a str, addr: Addr, state: &'static str) -> Self {
        Self {
            name,
            addr,
            state,
            round_trip: None,
            jitter: None,
            traffic: Traffic::NONE,
            resent: None,
            refused: 0,
            loss: None,
            choke: None,
            updates: Updates::NONE,
            interpolation: None,
            prediction_error: None,
            queued: None,
        }
    }

    /// The figures without the name, which somebody else owns.
    pub const fn without_name(self) -> PeerStats<'static> {
        PeerStats { name: "", ..self }
    }

    /// Shows every figure that is known at this moment.
    #[expect(clippy::cast_precision_loss, reason = "figures for people")]
    pub fn visit(&self, now: Instant, visit: &mut dyn FnMut(&'static Metric, f64)) {
        let mut known = |metric, value: Option<f64>| {
            if let Some(value) = value {
                visit(metric, value);
            }
        };
        let seconds = |span: Option<Duration>| span.map(|span| span.as_secs_f64());
        known(ROUND_TRIP, seconds(self.round_trip));
        known(JITTER, seconds(self.jitter));
        known(LOSS, self.loss.map(f64::from));
        known(CHOKE, self.choke.map(f64::from));
        known(INTERPOLATION, seconds(self.interpolation));
        known(SNAPSHOT_AGE, seconds(self.updates.age(now)));
        known(PREDICTION_ERROR, self.prediction_error.map(f64::from));
        known(QUEUED, self.queued.map(|queued| queued as f64));
        known(RESENT, self.resent.map(|resent| resent as f64));
        let mut counter = |metric, count: u64| visit(metric, count as f64);
        counter(SNAPSHOTS, self.updates.count());
        counter(REFUSED, self.refused);
        counter(PACKETS_IN, self.traffic.packets_in);
        counter(PACKETS_OUT, self.traffic.packets_out);
        counter(BYTES_IN, self.traffic.bytes_in);
        counter(BYTES_OUT, self.traffic.bytes_out);
        counter(MESSAGES_IN, self.traffic.messages_in);
        counter(MESSAGES_OUT, self.traffic.messages_out);
    }
}

/// What was sent to and received from a peer.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Traffic {
    /// Datagrams, or pieces of a stream, received.
    pub packets_in: u64,
    /// Bytes received, headers of the carrier not counted.
    pub bytes_in: u64,
    /// Datagrams, or pieces of a stream, sent.
    pub packets_out: u64,
    /// Bytes sent.
    pub bytes_out: u64,
    /// Whole messages of the protocol received.
    pub messages_in: u64,
    /// Whole messages of the protocol sent, repetitions included.
    pub messages_out: u64,
}

impl Traffic {
    /// Nothing yet.
    pub const NONE: Self = Self {
        packets_in: 0,
        bytes_in: 0,
        packets_out: 0,
        bytes_out: 0,
        messages_in: 0,
        messages_out: 0,
    };

    /// Counts one arrival.
    pub const fn received(&mut self, bytes: usize) {
        self.packets_in += 1;
        self.bytes_in += bytes as u64;
    }

    /// Counts one sending.
    pub const fn sent(&mut self, bytes: usize) {
        self.packets_out += 1;
        self.bytes_out += bytes as u64;
    }
}
