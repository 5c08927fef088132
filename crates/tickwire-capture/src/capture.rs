//! Writing a capture from a bounded queue, on a thread of its own.
//!
//! In: packets of any number of [`Wire`]s. Out: a pcapng file with an interface for each of them. A disk that is too
//! slow costs packets, never the game's time: what does not fit the queue is left out, counted, and said in the file
//! in front of the next packet and at its end.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant as WallClock, SystemTime, UNIX_EPOCH};

use pcap_file::DataLink;
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::interface_statistics::{
    InterfaceStatisticsBlock, InterfaceStatisticsOption,
};
use tickwire_session::Instant;

use crate::limits::{FINISH_PATIENCE, FLUSH_EVERY, QUEUED_BYTES, QUEUED_PACKETS};
use crate::packet::Packet;
use crate::wire::{End, Role, Wire};

/// A capture under way.
#[derive(Debug)]
pub struct Capture {
    orders: SyncSender<Order>,
    shared: Arc<Shared>,
    /// Says how it ended.
    ended: Receiver<io::Result<u64>>,
    /// Each an interface of the file, by name and description.
    interfaces: Vec<(String, String)>,
}

/// How a capture ended.
#[derive(Debug)]
pub struct Finished {
    /// Packets in the file.
    pub written: u64,
    /// Packets that are not, because the disk was too slow or they are longer than IP allows.
    pub dropped: u64,
}

#[derive(Debug)]
enum Order {
    Interface {
        name: String,
        description: String,
    },
    Packet {
        interface: u32,
        packet: Packet,
        dropped: u64,
    },
}

#[derive(Debug, Default)]
struct Shared {
    /// Bytes in the queue.
    queued: AtomicUsize,
    dropped: AtomicU64,
    is_over: AtomicBool,
}

impl Capture {
    /// Begins a capture. `now` is the moment that it is, as the sessions call it.
    pub fn begin(out: impl Write + Send + 'static, now: Instant) -> io::Result<Self> {
        let (orders, received) = sync_channel(QUEUED_PACKETS);
        let (end, ended) = sync_channel(1);
        let shared = Arc::<Shared>::default();
        let epoch = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let file = File {
            out: PcapNgWriter::new(io::BufWriter::new(out)).map_err(io::Error::other)?,
            epoch: epoch.saturating_sub(now.since(Instant::ZERO)),
            last: epoch,
            frame: Vec::new(),
            written: Vec::new(),
            dropped: Vec::new(),
        };
        let queue = Arc::clone(&shared);
        thread::Builder::new()
            .name("capture".into())
            .spawn(move || drop(end.send(file.write_all(&received, &queue))))?;
        Ok(Self {
            orders,
            shared,
            ended,
            interfaces: Vec::new(),
        })
    }

    /// An observer whose packets go into the file, on an interface with the protocol's name: one for all its clients,
    /// and one for its server.
    pub fn wire(&mut self, protocol: &str, end: End) -> Wire {
        let side = match end.role {
            Role::Server(_) => "server",
            Role::Client(_) => "client",
        };
        let described = (
            protocol.to_owned(),
            format!("tickwire {side}: what its session says, above any encryption"),
        );
        let known = self.interfaces.iter().position(|other| *other == described);
        let interface = known.unwrap_or(self.interfaces.len());
        if known.is_none() {
            let (name, description) = described.clone();
            self.interfaces.push(described);
            // If the file has failed already, its end says so.
            self.orders
                .send(Order::Interface { name, description })
                .ok();
        }
        let interface = u32::try_from(interface).unwrap_or(u32::MAX);
        let (orders, shared) = (self.orders.clone(), Arc::clone(&self.shared));
        let mut dropped = 0;
        Wire::new(
            end,
            Box::new(move |packet| {
                let length = packet.bytes.len();
                let is_room = shared.queued.load(Ordering::Relaxed) + length <= QUEUED_BYTES;
                let order = Order::Packet {
                    interface,
                    packet,
                    dropped,
                };
                // Before it is sent, so that the other thread never takes off more than there is.
                shared.queued.fetch_add(length, Ordering::Relaxed);
                if is_room && orders.try_send(order).is_ok() {
                    dropped = 0;
                } else {
                    shared.queued.fetch_sub(length, Ordering::Relaxed);
                    shared.dropped.fetch_add(1, Ordering::Relaxed);
                    dropped += 1;
                }
            }),
        )
    }

    /// Writes out what waits, and ends the file. An error says that the file is not complete.
    pub fn finish(self) -> io::Result<Finished> {
        self.shared.is_over.store(true, Ordering::Release);
        let ended = self.ended.recv_timeout(FINISH_PATIENCE);
        let ended = ended.map_err(|_| io::Error::other("the disk does not take it"));
        Ok(Finished {
            written: ended??,
            dropped: self.shared.dropped.load(Ordering::Relaxed),
        })
    }
}

/// How often the writing thread looks whether the capture is over.
const LOOK: Duration = Duration::from_millis(50);

/// The file, on its thread.
struct File<W: Write> {
    out: PcapNgWriter<W>,
    /// The wall clock's time at the sessions' zero.
    epoch: Duration,
    /// When the last packet went by.
    last: Duration,
    frame: Vec<u8>,
    /// Of each interface.
    written: Vec<u64>,
    dropped: Vec<u64>,
}

impl<W: Write> File<W> {
    fn write_all(mut self, orders: &Receiver<Order>, shared: &Shared) -> io::Result<u64> {
        let mut flushed = WallClock::now();
        loop {
            // First, so that nothing is missed that was ordered before the end.
            let is_over = shared.is_over.load(Ordering::Acquire);
            match orders.recv_timeout(LOOK) {
                Ok(order) => self.carry_out(order, shared)?,
                Err(RecvTimeoutError::Timeout) if !is_over => {}
                Err(_) => break,
            }
            if flushed.elapsed() >= FLUSH_EVERY {
                self.out.get_mut().flush()?;
                flushed = WallClock::now();
            }
        }
        let dropped = shared.dropped.load(Ordering::Relaxed);
        self.end(dropped)
    }

    fn carry_out(&mut self, order: Order, shared: &Shared) -> io::Result<()> {
        match order {
            Order::Interface { name, description } => {
                let mut block = InterfaceDescriptionBlock::new(DataLink::RAW, 0);
                block.options = vec![
                    InterfaceDescriptionOption::IfName(name.into()),
                    InterfaceDescriptionOption::IfDescription(description.into()),
                ];
                self.written.push(0);
                self.dropped.push(0);
                let wrote = self.out.write_pcapng_block(block);
                wrote.map(drop).map_err(io::Error::other)
            }
            Order::Packet {
                interface,
                packet,
                dropped,
            } => {
                shared
                    .queued
                    .fetch_sub(packet.bytes.len(), Ordering::Relaxed);
                self.write_packet(interface, &packet, dropped, shared)
            }
        }
    }

    fn write_packet(
        &mut self,
        interface: u32,
        packet: &Packet,
        dropped: u64,
        shared: &Shared,
    ) -> io::Result<()> {
        let index = interface as usize;
        if let Some(sum) = self.dropped.get_mut(index) {
            *sum += dropped;
        }
        self.frame.clear();
        if packet.encode(&mut self.frame).is_none() {
            shared.dropped.fetch_add(1, Ordering::Relaxed);
            self.dropped
                .iter_mut()
                .skip(index)
                .take(1)
                .for_each(|sum| *sum += 1);
            return Ok(());
        }
        self.last = self.epoch + packet.at.since(Instant::ZERO);
        // Bits 0 and 1 of the flags: 1 is inbound, 2 outbound.
        let direction = if packet.is_inbound { 1 } else { 2 };
        let mut options = vec![EnhancedPacketOption::Flags(direction)];
        if dropped > 0 {
            options.push(EnhancedPacketOption::DropCount(dropped));
        }
        let block = EnhancedPacketBlock {
            interface_id: interface,
            timestamp: self.last,
            original_len: u32::try_from(self.frame.len()).unwrap_or(u32::MAX),
            data: self.frame.as_slice().into(),
            options,
        };
        let wrote = self.out.write_pcapng_block(block);
        self.written
            .iter_mut()
            .skip(index)
            .take(1)
            .for_each(|sum| *sum += 1);
        wrote.map(drop).map_err(io::Error::other)
    }

    /// Says of each interface what is there and what is not; how many packets there are.
    fn end(mut self, dropped: u64) -> io::Result<u64> {
        let known: u64 = self.dropped.iter().sum();
        // What was dropped last has no packet behind it that says so.
        if let Some(last) = self.dropped.last_mut() {
            *last += dropped.saturating_sub(known);
        }
        for (interface, (written, dropped)) in (0..).zip(self.written.iter().zip(&self.dropped)) {
            let block = InterfaceStatisticsBlock {
                interface_id: interface,
                timestamp: self.last,
                options: vec![
                    InterfaceStatisticsOption::IsbIfRecv(written + dropped),
                    InterfaceStatisticsOption::IsbIfDrop(*dropped),
                ],
            };
            self.out
                .write_pcapng_block(block)
                .map_err(io::Error::other)?;
        }
        self.out.get_mut().flush()?;
        Ok(self.written.iter().sum())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::mpsc::channel;

    use tickwire_session::Transmit;
    use tickwire_session::tap::Observer as _;

    use super::*;
    use crate::{Frames, Next};

    /// A disk that takes nothing until it is told to.
    struct Slow {
        go: Receiver<()>,
        went: bool,
        file: Arc<Mutex<Vec<u8>>>,
    }

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if !self.went {
                self.go.recv().expect("the test says when");
                self.went = true;
            }
            self.file.lock().expect("nobody panicked").extend(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    const CLIENT: End = End {
        role: Role::Client(1),
        port: 7_777,
    };

    #[test]
    fn a_slow_disk_costs_packets_and_the_file_says_how_many() {
        let (tell, go) = channel();
        let file = Arc::<Mutex<Vec<u8>>>::default();
        let out = Slow {
            go,
            went: false,
            file: Arc::clone(&file),
        };
        let mut capture = Capture::begin(out, Instant::ZERO).expect("it begins");
        let mut wire = capture.wire("lwar", CLIENT);
        let to = "127.0.0.1:7777".parse().expect("an address");
        let datagram = vec![7; 60_000];
        let sent = 2 * QUEUED_BYTES / datagram.len();
        for _ in 0..sent {
            wire.output(Instant::ZERO, Transmit::Datagram { to }, &datagram);
        }
        tell.send(()).expect("it waits");
        let finished = capture.finish().expect("it is written");
        assert!(finished.dropped > 0, "{finished:?}");
        assert_eq!(finished.written + finished.dropped, sent as u64);

        let file = file.lock().expect("nobody panicked");
        let mut frames = Frames::new(file.as_slice()).expect("a capture");
        let mut read = 0;
        loop {
            match frames.next() {
                Next::Frame(_) => read += 1,
                Next::Block(_) => {}
                Next::End => break,
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(read, finished.written);
        assert_eq!(frames.dropped(), finished.dropped);
    }

    #[test]
    fn a_disk_that_fails_ends_the_capture_alone() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut capture = Capture::begin(Full, Instant::ZERO).expect("nothing is written yet");
        let mut wire = capture.wire("lwar", CLIENT);
        let to = "127.0.0.1:7777".parse().expect("an address");
        for _ in 0..1_000 {
            wire.output(Instant::ZERO, Transmit::Datagram { to }, &[7; 1_000]);
        }
        capture.finish().expect_err("nothing could be written");
    }
}
