//! Reading captures, packet by packet: as much memory for gigabytes as for a second.
//!
//! In: a pcap or pcapng file of anybody. Out: [`Frame`]s, the blocks between them, and where it is broken. Behind a
//! broken block reading goes on if its end is known.

use std::borrow::Cow;
use std::io::{Chain, Cursor, ErrorKind, Read};
use std::time::Duration;

use pcap_file::DataLink;
use pcap_file::pcap::{PcapReadError, PcapReader, PcapTsResolution, RawPcapPacket};
use pcap_file::pcapng::blocks::Block;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketOption;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption, InterfaceTsResolution,
};
use pcap_file::pcapng::blocks::interface_statistics::InterfaceStatisticsOption;
use pcap_file::pcapng::{PcapNgReadError, PcapNgReader, PcapNgState};

use crate::limits::{BLOCK, INTERFACES};

/// Reads a capture.
#[derive(Debug)]
pub struct Frames<R: Read> {
    form: Form<Opened<R>>,
    /// Frames so far.
    count: u64,
    dropped: u64,
    is_over: bool,
}

#[derive(Debug)]
enum Form<R: Read> {
    Pcap {
        reader: PcapReader<R>,
        /// Its one interface, until it was told of.
        interface: Option<InterfaceDescriptionBlock<'static>>,
    },
    Ng(PcapNgReader<R>),
}

/// What comes next in a file.
#[derive(Debug)]
pub enum Next<'a> {
    /// A packet.
    Frame(Frame<'a>),
    /// Something else that the file says, such as of an interface.
    Block(Block<'a>),
    /// A block that makes no sense; the next may.
    Broken(String),
    /// Nothing that follows can be read: the file was cut off, or is damaged.
    Cut(String),
    /// The end.
    End,
}

/// A packet as it was captured.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame<'a> {
    /// Counted from 1.
    pub number: u64,
    /// Since 1970.
    pub at: Duration,
    /// Which of the file's interfaces it went by.
    pub interface: u32,
    /// What that is called. A [`Capture`](crate::Capture) calls it as its protocol.
    pub name: Option<&'a str>,
    /// What its first bytes are.
    pub link: DataLink,
    /// What was captured of it.
    pub bytes: Cow<'a, [u8]>,
    /// How long it was.
    pub length: u32,
    /// What else the file says of it.
    pub options: Vec<EnhancedPacketOption<'a>>,
}

impl<R: Read> Frames<R> {
    /// Opens a capture. An error says what is wrong with its beginning.
    pub fn new(mut bytes: R) -> Result<Self, String> {
        let mut head = [0; 4];
        bytes.read_exact(&mut head).map_err(|_| CUT.to_owned())?;
        let is_ng = head == [0x0a, 0x0d, 0x0d, 0x0a];
        let bytes = Cursor::new(head).chain(bytes);
        let form = if is_ng {
            let reader = PcapNgReader::with_capacity(bytes, BLOCK);
            Form::Ng(reader.map_err(|error| explain_ng(&error))?)
        } else {
            let reader =
                PcapReader::with_capacity(bytes, BLOCK).map_err(|error| explain(&error))?;
            let header = reader.header();
            let mut interface = InterfaceDescriptionBlock::new(header.datalink, header.snaplen);
            if header.ts_resolution == PcapTsResolution::NanoSecond {
                let unit = InterfaceDescriptionOption::IfTsResol(InterfaceTsResolution::NANO);
                interface.options.push(unit);
            }
            Form::Pcap {
                reader,
                interface: Some(interface),
            }
        };
        Ok(Self {
            form,
            count: 0,
            dropped: 0,
            is_over: false,
        })
    }

    /// Packets that are not in the file, as far as it says so.
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Reads on.
    #[expect(clippy::should_implement_trait, reason = "it lends")]
    pub fn next(&mut self) -> Next<'_> {
        if self.is_over {
            return Next::End;
        }
        match &mut self.form {
            Form::Pcap { reader, interface } => {
                if let Some(interface) = interface.take() {
                    return Next::Block(Block::InterfaceDescription(interface));
                }
                let header = reader.header();
                // As it is: what it claims of the longest packet, or of fractions of seconds, need not be true.
                match reader.next_raw_packet() {
                    None => Next::End,
                    Some(Err(error)) => {
                        self.is_over = true;
                        Next::Cut(explain(&error))
                    }
                    Some(Ok(packet)) => {
                        self.count += 1;
                        Next::Frame(Frame {
                            number: self.count,
                            at: moment(&packet, header.ts_resolution),
                            interface: 0,
                            name: None,
                            link: header.datalink,
                            length: packet.orig_len.max(packet.incl_len),
                            bytes: packet.data,
                            options: Vec::new(),
                        })
                    }
                }
            }
            Form::Ng(reader) => {
                let (raw, state) = match reader.next_raw_block() {
                    None => return Next::End,
                    Some(Err(error)) => {
                        self.is_over = true;
                        return Next::Cut(explain_ng(&error));
                    }
                    Some(Ok(read)) => read,
                };
                if state.interfaces().len() > INTERFACES {
                    self.is_over = true;
                    return Next::Cut(format!("it has more than {INTERFACES} interfaces"));
                }
                match raw.try_into_block(state) {
                    Err(error) => Next::Broken(chain(&error)),
                    Ok(block) => {
                        if let Block::InterfaceStatistics(statistics) = &block {
                            self.dropped += statistics.options.iter().map(dropped).sum::<u64>();
                        }
                        to_next(block, state, &mut self.count)
                    }
                }
            }
        }
    }
}

/// A file of which the first bytes were looked at.
type Opened<R> = Chain<Cursor<[u8; 4]>, R>;

/// Whether a file that begins so is a capture.
pub fn is_capture(head: &[u8]) -> bool {
    let magic = head.first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
    matches!(
        magic,
        Some(0x0a0d_0d0a | 0xa1b2_c3d4 | 0xd4c3_b2a1 | 0xa1b2_3c4d | 0x4d3c_b2a1)
    )
}

const fn dropped(option: &InterfaceStatisticsOption<'_>) -> u64 {
    match option {
        InterfaceStatisticsOption::IsbIfDrop(count) => *count,
        _ => 0,
    }
}

fn to_next<'a>(block: Block<'a>, state: &'a PcapNgState, count: &mut u64) -> Next<'a> {
    let (interface, at, length, bytes, options) = match block {
        Block::EnhancedPacket(packet) => (
            packet.interface_id,
            packet.timestamp,
            packet.original_len,
            packet.data,
            packet.options,
        ),
        Block::Packet(packet) => (
            packet.interface_id.into(),
            packet.timestamp,
            packet.original_len,
            packet.data,
            Vec::new(),
        ),
        // It has neither a time nor a choice of interfaces.
        Block::SimplePacket(packet) => (
            0,
            Duration::ZERO,
            packet.original_len,
            packet.data,
            Vec::new(),
        ),
        block => return Next::Block(block),
    };
    let Some(described) = state.interfaces().get(interface as usize) else {
        return Next::Broken(format!(
            "a packet of interface {interface}, which is not described"
        ));
    };
    *count += 1;
    Next::Frame(Frame {
        number: *count,
        at,
        interface,
        name: described.options.iter().find_map(|option| match option {
            InterfaceDescriptionOption::IfName(name) => Some(&**name),
            _ => None,
        }),
        link: described.linktype,
        bytes,
        length,
        options,
    })
}

fn moment(packet: &RawPcapPacket<'_>, unit: PcapTsResolution) -> Duration {
    let fraction = u64::from(packet.ts_frac);
    let fraction = match unit {
        PcapTsResolution::MicroSecond => Duration::from_micros(fraction),
        PcapTsResolution::NanoSecond => Duration::from_nanos(fraction),
    };
    Duration::from_secs(packet.ts_sec.into()) + fraction
}

const CUT: &str = "the file ends inside a packet";

fn explain(error: &PcapReadError) -> String {
    match error {
        PcapReadError::Io(error) if error.kind() == ErrorKind::UnexpectedEof => CUT.into(),
        error => chain(error),
    }
}

fn explain_ng(error: &PcapNgReadError) -> String {
    match error {
        PcapNgReadError::Io(error) if error.kind() == ErrorKind::UnexpectedEof => {
            format!("the file ends inside a block, or has one of more than {BLOCK} bytes")
        }
        error => chain(error),
    }
}

/// An error with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text += &format!(": {error}");
        cause = error.source();
    }
    text
}
