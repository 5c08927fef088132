//! Packets taken apart and put together again, by what the whole worlds say they are relative to.

use tickwire_replica::coder::Prior;
use tickwire_replica::packet::{
    Header, Last, Notice, Notices, PacketReader, PacketWriter, RecordHead,
};
use tickwire_replica::record::{self, Coding, Reading, Staged, Staging};
use tickwire_replica::{Archetypes, BlockNumber, PlaceNumber, Schema, SendIndex};
use tickwire_wire::Reader;

use crate::things::Thing;
use crate::truth::Truth;

/// What a packet says.
pub(crate) struct Contents {
    pub(crate) header: Header,
    pub(crate) last: Option<Last>,
    pub(crate) notices: Vec<Notice>,
    pub(crate) records: Vec<(RecordHead, Vec<Staged>)>,
}

pub(crate) struct Codec {
    pub(crate) schema: Schema,
    pub(crate) coding: Coding,
}

impl Codec {
    pub(crate) fn new() -> Self {
        let schema = Thing::schema();
        let coding = Coding::new(Prior::general(&schema));
        Self { schema, coding }
    }

    /// Takes a packet apart. `near` is near its numbers.
    pub(crate) fn read(
        &mut self,
        truth: &Truth,
        near: Header,
        packet: &[u8],
    ) -> Result<Contents, String> {
        let mut r = PacketReader::new(Reader::new(packet)).map_err(|e| e.to_string())?;
        let header = r.header(near);
        let mut contents = Contents {
            header,
            last: r.last(),
            notices: Vec::new(),
            records: Vec::new(),
        };
        let notices = &mut contents.notices;
        r.notices(|notice| notices.push(notice))
            .map_err(|e| e.to_string())?;
        while let Some(head) = r.record().map_err(|e| e.to_string())? {
            let reading = Reading {
                schema: &self.schema,
                held: truth,
                send: header.send,
            };
            let mut staging = Staging::default();
            let coding = &mut self.coding;
            let length = record::decode(&head, &reading, r.rest(), coding, &mut staging)
                .map_err(|e| format!("the server itself cannot read its record: {e}"))?;
            r.skip_body(length).map_err(|e| e.to_string())?;
            let mut blocks: Vec<_> = std::iter::from_fn(|| staging.pop()).collect();
            blocks.reverse();
            contents.records.push((head, blocks));
        }
        Ok(contents)
    }

    /// Puts a packet together again; `body` writes a record's body.
    pub(crate) fn write(
        &mut self,
        contents: &Contents,
        mut body: impl FnMut(&mut Self, &RecordHead, &[Staged]) -> Vec<u8>,
    ) -> Vec<u8> {
        let (mut clear, mut leaves, mut gones) = (false, Vec::new(), Vec::new());
        for notice in &contents.notices {
            match *notice {
                Notice::Clear => clear = true,
                Notice::Leave(place) => leaves.push(place),
                Notice::Gone(place, block) => gones.push((place, block)),
            }
        }
        let notices = Notices {
            clear,
            leaves: &leaves,
            gones: &gones as &[(PlaceNumber, BlockNumber)],
        };
        let mut out = Vec::new();
        let room = 1 << 16;
        let mut packet = PacketWriter::new(contents.header, &notices, room, &mut out)
            .expect("there is room for it");
        for (head, blocks) in &contents.records {
            let body = body(self, head, blocks);
            packet.record(head, &body).expect("there is room for it");
        }
        packet.finish(contents.last);
        out
    }
}

/// The send that a record is relative to, if it is.
pub(crate) fn named(head: &RecordHead, send: SendIndex) -> (Option<SendIndex>, Option<SendIndex>) {
    let at = |age: u8| (age > 0).then(|| send.before(age.into()));
    (at(head.ages.baseline), at(head.ages.previous))
}
