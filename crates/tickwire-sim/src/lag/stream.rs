//! One stream of a lagged session.
//!
//! In: what the driver tells of it, and what the session orders. Out: both, late and in order. A session may
//! end a stream, and dial another by the same number, before the driver has carried that out: what is
//! still heard of the old one is dropped meanwhile, as the contract promises.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::mem;

use tickwire_session::{Addr, Ended, Instant, Room, StreamId, Transmit};

use crate::ordered::OrderedLink;
use crate::{Conditions, Rng};

/// Bytes of a stream that are on the way at most, each way: a usual window of a usual system.
const WINDOW: usize = 64 * 1_024;

#[derive(Clone, Debug)]
pub(super) struct StreamLag {
    pub(super) peer: Addr,
    pub(super) outgoing: OrderedLink<Order>,
    pub(super) incoming: OrderedLink<Heard>,
    /// What the driver takes.
    pub(super) room: Room,
    /// The session knows that it is open.
    pub(super) is_open: bool,
    /// What the session was told it may write, and has not used.
    told: usize,
    /// Orders that have crossed, for the driver.
    ready: VecDeque<Order>,
    /// Ends that the session ordered and the driver has not heard of. While there is one, the session
    /// hears nothing.
    ends_on_the_way: u32,
    /// The driver ended it; the session does not know yet, or ended it, too.
    is_gone: bool,
    /// Both know that it has ended.
    is_over: bool,
}

/// What the session wants done.
#[derive(Clone, Debug)]
pub(super) enum Order {
    Dial(Addr),
    Bytes(VecDeque<u8>),
    Finish,
    Abort,
}

/// What the driver told.
#[derive(Clone, Debug)]
pub(super) enum Heard {
    Opened(Addr),
    Bytes(Vec<u8>),
    Closed(Ended),
}

impl StreamLag {
    pub(super) const fn new(
        peer: Addr,
        outgoing: Conditions,
        incoming: Conditions,
        [up, down]: [Rng; 2],
    ) -> Self {
        Self {
            peer,
            outgoing: OrderedLink::new(outgoing, up),
            incoming: OrderedLink::new(incoming, down),
            room: Room::CLOSED,
            is_open: false,
            told: 0,
            ready: VecDeque::new(),
            ends_on_the_way: 0,
            is_gone: false,
            is_over: false,
        }
    }

    /// The driver tells something.
    pub(super) fn hear(&mut self, now: Instant, heard: Heard) {
        let is_news = self.ends_on_the_way == 0 && !self.is_gone;
        self.is_gone |= matches!(heard, Heard::Closed(_));
        if is_news {
            let size = match &heard {
                Heard::Bytes(bytes) => bytes.len(),
                Heard::Opened(_) | Heard::Closed(_) => 0,
            };
            self.incoming.push(now, heard, size);
        }
    }

    /// The session orders something.
    pub(super) fn take(&mut self, now: Instant, order: Order) {
        let ends = matches!(order, Order::Finish | Order::Abort);
        if self.is_gone && self.ends_on_the_way == 0 {
            // The order crossed with the news that nothing can be done any more.
            self.is_over |= ends;
            return;
        }
        if matches!(order, Order::Abort) {
            self.outgoing.clear();
            self.ready.clear();
            self.ends_on_the_way = 0;
        }
        if ends {
            self.ends_on_the_way += 1;
            self.incoming.clear();
        }
        let size = match &order {
            Order::Bytes(bytes) => bytes.len(),
            Order::Dial(_) | Order::Finish | Order::Abort => 0,
        };
        self.told = self.told.saturating_sub(size);
        self.outgoing.push(now, order, size);
    }

    /// Makes ready what has crossed.
    pub(super) fn gather(&mut self, now: Instant) {
        while let Some(order) = self.outgoing.pop(now) {
            self.ready.push_back(order);
        }
    }

    /// The next order that the driver takes.
    pub(super) fn emit(&mut self, on: StreamId, out: &mut Vec<u8>) -> Option<Transmit> {
        while let Some(order) = self.ready.pop_front() {
            match order {
                Order::Dial(to) => {
                    self.peer = to;
                    return Some(Transmit::Dial { on, to });
                }
                Order::Bytes(_) if self.is_gone => {}
                Order::Bytes(mut bytes) => {
                    let taken = bytes.len().min(self.room.bytes as usize);
                    self.room.spend(taken);
                    out.extend(bytes.drain(..taken));
                    if !bytes.is_empty() {
                        self.ready.push_front(Order::Bytes(bytes));
                    }
                    return (taken > 0).then_some(Transmit::Stream { on });
                }
                Order::Finish | Order::Abort => {
                    if !self.end() {
                        continue;
                    }
                    return Some(match order {
                        Order::Finish => Transmit::Finish { on },
                        _ => Transmit::Abort { on },
                    });
                }
            }
        }
        None
    }

    /// The session's end has come to the driver; returns whether that did not know.
    fn end(&mut self) -> bool {
        self.ends_on_the_way -= 1;
        // What follows is another stream by the same number.
        self.is_over = self.ready.is_empty() && self.outgoing.is_empty();
        self.room = Room::CLOSED;
        self.is_open = false;
        self.told = 0;
        !mem::take(&mut self.is_gone)
    }

    /// Both know that it has ended.
    pub(super) const fn is_over(&self) -> bool {
        self.is_over
    }

    /// What the session may write, if that is more than it was told.
    pub(super) fn news_of_room(&mut self) -> Option<Room> {
        if !self.is_open || self.is_gone || self.ends_on_the_way > 0 {
            return None;
        }
        let ready = self.ready.iter().map(|order| match order {
            Order::Bytes(bytes) => bytes.len(),
            Order::Dial(_) | Order::Finish | Order::Abort => 0,
        });
        let under_way = self.outgoing.bytes() + ready.sum::<usize>();
        let taken = WINDOW.min(self.room.bytes as usize);
        let room = taken.saturating_sub(under_way);
        (room > self.told).then(|| {
            self.told = room;
            Room {
                bytes: u32::try_from(room).unwrap_or(u32::MAX),
                ..self.room
            }
        })
    }

    /// Whether more bytes of the peer find room.
    pub(super) const fn is_reading(&self) -> bool {
        self.incoming.bytes() < WINDOW
    }

    /// Everything that the session has not heard, however late it would be.
    pub(super) fn take_heard(&mut self) -> Vec<Heard> {
        self.incoming.take_all()
    }
}
