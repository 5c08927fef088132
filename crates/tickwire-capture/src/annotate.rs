//! The same capture again, with a comment on each packet.

use std::io::{self, Write};
use std::time::Duration;

use pcap_file::pcapng::blocks::Block;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::opt_common::CommonOption;
use pcap_file::pcapng::{PcapNgWriteError, PcapNgWriter};

use crate::frames::Frame;
use crate::limits::COMMENT;

/// Writes a capture with comments. It is pcapng, whatever the original was.
pub struct Annotator<W: Write> {
    out: PcapNgWriter<W>,
}

impl<W: Write> Annotator<W> {
    /// Begins a file.
    pub fn new(out: W) -> io::Result<Self> {
        let out = PcapNgWriter::new(out).map_err(io::Error::other)?;
        Ok(Self { out })
    }

    /// Writes what a capture says between its packets.
    pub fn write_block(&mut self, block: &Block<'_>) -> io::Result<()> {
        match block {
            // Comments change how long a section is; -1 is for whoever does not know.
            Block::SectionHeader(section) => {
                let mut section = section.clone();
                section.section_length = -1;
                written(self.out.write_pcapng_block(section))
            }
            block => written(self.out.write_block(block)),
        }
    }

    /// Writes a packet; with what is said of it, if anything is.
    pub fn write_frame(&mut self, frame: Frame<'_>, comment: &str) -> io::Result<()> {
        let mut options = frame.options;
        if !comment.is_empty() {
            let comment = CommonOption::Comment(shorten(comment).into());
            options.push(EnhancedPacketOption::Common(comment));
        }
        let block = EnhancedPacketBlock {
            interface_id: frame.interface,
            timestamp: frame.at,
            original_len: frame.length,
            data: frame.bytes,
            options,
        };
        match self.out.write_pcapng_block(block.clone()) {
            // A time that its interface cannot express, as of packets that have none.
            Err(PcapNgWriteError::Validation { .. }) => {
                let timestamp = Duration::ZERO;
                written(
                    self.out
                        .write_pcapng_block(EnhancedPacketBlock { timestamp, ..block }),
                )
            }
            wrote => written(wrote),
        }
    }

    /// Writes out the rest.
    pub fn finish(self) -> io::Result<()> {
        self.out.into_inner().flush()
    }
}

impl<W: Write> std::fmt::Debug for Annotator<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Annotator").finish_non_exhaustive()
    }
}

fn written(wrote: Result<usize, PcapNgWriteError>) -> io::Result<()> {
    wrote.map(drop).map_err(io::Error::other)
}

/// As much of a comment as fits.
fn shorten(comment: &str) -> String {
    if comment.len() <= COMMENT {
        return comment.to_owned();
    }
    let end = comment.floor_char_boundary(COMMENT);
    format!("{}\n… {} bytes more", &comment[..end], comment.len() - end)
}
