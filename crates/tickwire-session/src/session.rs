//! The trait that every protocol implements and every driver drives.

use alloc::vec::Vec;

use crate::{Addr, Ended, Instant, Path, PeerStats, Room, StreamId, Transmit};

/// The bytes half of a protocol: what a driver needs to know.
///
/// # The drain rule
///
/// A session does nothing by itself. After *any* `handle_*` call, and after any call that the game
/// makes on the concrete type (publish, act, disconnect), whoever made the call
///
/// 1. calls [`poll_transmit`](Session::poll_transmit) until it returns `None`, carrying out each
///    result;
/// 2. calls [`poll_event`](Events::poll_event) until it returns `None` (the game does this: drivers
///    do not know the event type);
/// 3. sleeps until [`poll_timeout`](Session::poll_timeout), or until something arrives; when that
///    moment has come, calls [`handle_timeout`](Session::handle_timeout).
///
/// Several `handle_*` calls may come before one drain: a driver hands in a batch, then drains. A
/// driver whose time is up may stop in the middle of step 1 and hand in something else before it goes
/// on, so that no session holds up the others.
///
/// # What a driver promises
///
/// * `now` never decreases from call to call.
/// * A stream's bytes arrive in order and complete. No order holds between paths.
/// * `handle_opened` comes before anything else of a stream, `handle_closed` after everything. The
///   streams of a link end before the link does.
/// * A datagram that cannot be carried is dropped, never kept for later.
/// * An order for a stream or link that ended in the same batch is ignored: the session could not
///   know yet.
///
/// # What a session promises
///
/// * At one `now`, draining ends after finitely many calls. After `handle_timeout` and a drain,
///   `poll_timeout` is later than `now` or `None`.
/// * All bytes handed in are consumed. Bytes that do not decode change nothing but counters.
/// * It never sends more on a stream than its [`Room`] allows, nor a datagram above
///   [`Room::largest`].
/// * What waits to be sent is bounded. State (positions, snapshots) is encoded when it is polled, so
///   that a slow path carries the newest; what must arrive (messages, answers, resources) waits in
///   order, encoded or not as suits the protocol.
/// * The same calls give the same results: no clock, no entropy, no order of a hash table.
///
/// # Threads
///
/// A session is [`Send`], so that a driver may run on a thread of its own. It is called from one
/// thread at a time.
pub trait Session: Send {
    /// A peer opened a stream, or one that this session dialled is open.
    fn handle_opened(&mut self, now: Instant, on: StreamId, peer: Addr);

    /// Bytes arrived on a stream, cut anywhere.
    fn handle_stream(&mut self, now: Instant, on: StreamId, bytes: &[u8]);

    /// A datagram arrived.
    fn handle_datagram(&mut self, now: Instant, from: Addr, bytes: &[u8]);

    /// What a path takes from now on.
    fn handle_room(&mut self, now: Instant, path: Path, room: Room);

    /// A path ended. After this the number of a stream or link means nothing; an address may come
    /// back.
    fn handle_closed(&mut self, now: Instant, path: Path, why: Ended);

    /// The moment that [`poll_timeout`](Session::poll_timeout) named has come. A call too early does
    /// no harm.
    fn handle_timeout(&mut self, now: Instant);

    /// What to do next; the bytes that belong to it are appended to `out`, which may already hold
    /// those of earlier calls.
    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit>;

    /// When to call [`handle_timeout`](Session::handle_timeout), if nothing happens before.
    fn poll_timeout(&self) -> Option<Instant>;

    /// Whether bytes of this stream are wanted now. While they are not, a driver leaves them with the system
    /// where it can, which slows the peer down. A protocol reads whatever comes; what passes streams on,
    /// such as a proxy, reads what it can get rid of.
    fn is_reading(&self, _on: StreamId) -> bool {
        true
    }

    /// Whether the game is slower than it should be. While it is, a server turns newcomers away and says
    /// why; those who play notice nothing. A client has nobody to turn away.
    fn set_busy(&mut self, is_busy: bool);

    /// Begins to end everything: a server tells its clients and takes no more of them, a client
    /// leaves. Drive the session until [`is_finished`](Session::is_finished), then drop it.
    fn shut_down(&mut self, now: Instant);

    /// Whether nothing is left to be told and nobody to be told it. A client may come to this by
    /// itself, when its server is gone; a server comes to it after
    /// [`shut_down`](Session::shut_down).
    fn is_finished(&self) -> bool;

    /// Shows the figures of every peer, under the same names in every protocol.
    fn visit_peers(&self, visit: &mut dyn FnMut(&PeerStats<'_>));

    /// Shows how often each thing happened that an operator may want to know of (refused datagrams
    /// above all), by name.
    fn visit_counters(&self, visit: &mut dyn FnMut(&'static str, u64));
}

/// Passes methods on to another session, inside `impl Session for` something that stands around one:
/// `pass_on_session!(self => self.inner; handle_opened handle_stream);`. Whoever passes on all that it does not
/// change also passes on what a driver asks for, such as [`Session::is_reading`], which has a default.
#[macro_export]
macro_rules! pass_on_session {
    ($this:ident => $inner:expr; $($method:ident)+) => {
        $($crate::pass_on_session!(@$method $this $inner);)+
    };
    (@handle_opened $this:ident $inner:expr) => {
        fn handle_opened(&mut $this, now: $crate::Instant, on: $crate::StreamId, peer: $crate::Addr) {
            $inner.handle_opened(now, on, peer);
        }
    };
    (@handle_stream $this:ident $inner:expr) => {
        fn handle_stream(&mut $this, now: $crate::Instant, on: $crate::StreamId, bytes: &[u8]) {
            $inner.handle_stream(now, on, bytes);
        }
    };
    (@handle_datagram $this:ident $inner:expr) => {
        fn handle_datagram(&mut $this, now: $crate::Instant, from: $crate::Addr, bytes: &[u8]) {
            $inner.handle_datagram(now, from, bytes);
        }
    };
    (@handle_room $this:ident $inner:expr) => {
        fn handle_room(&mut $this, now: $crate::Instant, path: $crate::Path, room: $crate::Room) {
            $inner.handle_room(now, path, room);
        }
    };
    (@handle_closed $this:ident $inner:expr) => {
        fn handle_closed(&mut $this, now: $crate::Instant, path: $crate::Path, why: $crate::Ended) {
            $inner.handle_closed(now, path, why);
        }
    };
    (@handle_timeout $this:ident $inner:expr) => {
        fn handle_timeout(&mut $this, now: $crate::Instant) {
            $inner.handle_timeout(now);
        }
    };
    (@poll_transmit $this:ident $inner:expr) => {
        fn poll_transmit(&mut $this, now: $crate::Instant, out: &mut $crate::Bytes) -> ::core::option::Option<$crate::Transmit> {
            $inner.poll_transmit(now, out)
        }
    };
    (@poll_timeout $this:ident $inner:expr) => {
        fn poll_timeout(&$this) -> ::core::option::Option<$crate::Instant> {
            $inner.poll_timeout()
        }
    };
    (@is_reading $this:ident $inner:expr) => {
        fn is_reading(&$this, on: $crate::StreamId) -> bool {
            $inner.is_reading(on)
        }
    };
    (@set_busy $this:ident $inner:expr) => {
        fn set_busy(&mut $this, is_busy: bool) {
            $inner.set_busy(is_busy);
        }
    };
    (@shut_down $this:ident $inner:expr) => {
        fn shut_down(&mut $this, now: $crate::Instant) {
            $inner.shut_down(now);
        }
    };
    (@is_finished $this:ident $inner:expr) => {
        fn is_finished(&$this) -> bool {
            $inner.is_finished()
        }
    };
    (@visit_peers $this:ident $inner:expr) => {
        fn visit_peers(&$this, visit: &mut dyn FnMut(&$crate::PeerStats<'_>)) {
            $inner.visit_peers(visit);
        }
    };
    (@visit_counters $this:ident $inner:expr) => {
        fn visit_counters(&$this, visit: &mut dyn FnMut(&'static str, u64)) {
            $inner.visit_counters(visit);
        }
    };
}

/// A borrowed session is one, too, so that a tap can be put around it for a while.
impl<S: Session + ?Sized> Session for &mut S {
    pass_on_session!(self => (**self); handle_opened handle_stream handle_datagram handle_room handle_closed
        handle_timeout poll_transmit poll_timeout is_reading set_busy shut_down is_finished visit_peers
        visit_counters);
}

/// The typed half, for the game.
pub trait Events: Session {
    /// What the game is told.
    type Event;

    /// The next thing that happened, in order.
    fn poll_event(&mut self) -> Option<Self::Event>;
}
