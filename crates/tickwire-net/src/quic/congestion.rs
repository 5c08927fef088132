//! Congestion control of a link: Cubic with a floor, and what it leaves to send.
//!
//! A game sends little, at a constant rate, and what is lost is never sent again; a controller made for
//! bulk would answer random loss by sending less until 60 small datagrams a second no longer fit. So the
//! window never falls below [`WINDOW_FLOOR`] packets. Above the floor it is Cubic's, which shares a
//! bottleneck with others fairly. The others of [`Congestion`] are here to be measured beside it.
//!
//! Out: how many bytes may be sent now, read through [`Flight`], which the connection's owner shares.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use quinn_proto::RttEstimator;
use quinn_proto::congestion::{
    BbrConfig, Controller, ControllerFactory, ControllerMetrics, CubicConfig, NewRenoConfig,
};

use crate::limits::WINDOW_FLOOR;

/// How a server's links share a network with others.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Congestion {
    /// Cubic, but never less than a game needs: see [`WINDOW_FLOOR`].
    #[default]
    FlooredCubic,
    /// Cubic as it is.
    Cubic,
    /// New Reno as it is.
    NewReno,
    /// BBR, which does not back off at random loss.
    Bbr,
}

impl Congestion {
    fn build(self, now: Instant, mtu: u16) -> Box<dyn Controller> {
        match self {
            Self::FlooredCubic | Self::Cubic => Arc::new(CubicConfig::default()).build(now, mtu),
            Self::NewReno => Arc::new(NewRenoConfig::default()).build(now, mtu),
            Self::Bbr => Arc::new(BbrConfig::default()).build(now, mtu),
        }
    }

    const fn floor(self) -> u64 {
        match self {
            Self::FlooredCubic => WINDOW_FLOOR,
            Self::Cubic | Self::NewReno | Self::Bbr => 0,
        }
    }
}

/// Bytes of one connection that are on their way. `quinn-proto` tells its controller, and nobody else.
#[derive(Debug, Default)]
pub(super) struct Flight(AtomicU64);

impl Flight {
    pub(super) fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Makes the controllers of one connection: one for each path it takes.
#[derive(Debug)]
pub(super) struct Watched {
    pub(super) flight: Arc<Flight>,
    pub(super) congestion: Congestion,
}

impl ControllerFactory for Watched {
    fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn Controller> {
        self.flight.0.store(0, Ordering::Relaxed);
        Box::new(WatchedController {
            inner: self.congestion.build(now, mtu),
            flight: Arc::clone(&self.flight),
            floor: self.congestion.floor(),
            mtu,
        })
    }
}

struct WatchedController {
    inner: Box<dyn Controller>,
    flight: Arc<Flight>,
    /// Packets that the window has at least.
    floor: u64,
    mtu: u16,
}

impl Controller for WatchedController {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.flight.0.fetch_add(bytes, Ordering::Relaxed);
        self.inner.on_sent(now, bytes, last_packet_number);
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.inner.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        largest_acked: Option<u64>,
    ) {
        // What was counted since holds bare acknowledgements, too, which are never acknowledged.
        self.flight.0.store(in_flight, Ordering::Relaxed);
        self.inner
            .on_end_acks(now, in_flight, app_limited, largest_acked);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent: bool,
        lost_bytes: u64,
    ) {
        self.inner
            .on_congestion_event(now, sent, is_persistent, lost_bytes);
    }

    fn on_mtu_update(&mut self, mtu: u16) {
        self.mtu = mtu;
        self.inner.on_mtu_update(mtu);
    }

    fn window(&self) -> u64 {
        self.inner.window().max(self.floor * u64::from(self.mtu))
    }

    fn metrics(&self) -> ControllerMetrics {
        self.inner.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self {
            inner: self.inner.clone_box(),
            flight: Arc::clone(&self.flight),
            floor: self.floor,
            mtu: self.mtu,
        })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn loss_after_loss_leaves_the_floor() {
        let flight = Arc::new(Flight::default());
        let factory = Arc::new(Watched {
            flight: Arc::clone(&flight),
            congestion: Congestion::default(),
        });
        #[expect(clippy::disallowed_methods, reason = "any moment will do")]
        let began = Instant::now();
        let mut controller = factory.build(began, 1_200);
        for second in 1..100 {
            let now = began + Duration::from_secs(second);
            controller.on_sent(now, 1_200, second);
            controller.on_congestion_event(now, now, true, 1_200);
        }
        assert_eq!(controller.window(), WINDOW_FLOOR * 1_200);
        controller.on_mtu_update(1_400);
        assert_eq!(controller.window(), WINDOW_FLOOR * 1_400);
        assert_eq!(flight.bytes(), 99 * 1_200);
        controller.on_end_acks(began, 300, true, None);
        assert_eq!(flight.bytes(), 300);
    }
}
