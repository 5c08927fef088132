//! A tap that keeps every byte of every stream.

use std::collections::BTreeMap;

use tickwire_session::tap::{Input, Observer};
use tickwire_session::{Instant, StreamId, Transmit};

/// The bytes of each connection, the client's first.
pub(super) type Streams = BTreeMap<StreamId, [Vec<u8>; 2]>;

#[derive(Default)]
pub(super) struct Listener {
    pub(super) streams: Streams,
}

impl Observer for Listener {
    fn input(&mut self, _now: Instant, input: Input<'_>) {
        if let Input::Stream { on, bytes } = input {
            self.streams.entry(on).or_default()[0].extend_from_slice(bytes);
        }
    }

    fn output(&mut self, _now: Instant, transmit: Transmit, bytes: &[u8]) {
        if let Transmit::Stream { on } = transmit {
            self.streams.entry(on).or_default()[1].extend_from_slice(bytes);
        }
    }
}
