//! Packets of a small schema, relative to versions that are stated here.

use tickwire_replica::coder::{Ages, Prior};
use tickwire_replica::packet::{
    Form, Header, Last, Notices, PacketReader, PacketWriter, RecordHead, Target,
};
use tickwire_replica::record::{
    self, BlockName, Changed, Coding, Held, Reading, RecordError, Staging,
};
use tickwire_replica::{
    ArchetypeSchema, BlockBuf, BlockNumber, BlockView, Field, Kind, PacketNumber, PlaceNumber,
    SLOTS, Schema, SendIndex,
};
use tickwire_wire::{DecodeError, Reader, Trace};

use crate::golden::{Golden, check_folder};

const FOLDER: &str = "replica";

const HEADER: Header = Header {
    number: PacketNumber(0x0102),
    send: SendIndex(0x0a0b0c),
};

/// `x` and `y` of 12 bits, a quaternion of 6, a name of up to 8 bytes.
fn schema() -> Schema {
    let fields = vec![
        Field {
            components: 2,
            ..Field::new(
                "at",
                Kind::Signed {
                    min: -2_048,
                    max: 2_047,
                },
            )
        },
        Field::new("turn", Kind::Quaternion { bits: 6 }),
        Field::new("name", Kind::Bytes { max: 8 }),
    ];
    Schema::new(vec![
        ArchetypeSchema {
            name: "Rock",
            fields: vec![Field::new("size", Kind::Unsigned { max: 7 })],
        },
        ArchetypeSchema {
            name: "Ship",
            fields,
        },
    ])
}

/// Three ships in slots 0, 1 and 9, `sends` before now; the last one came a send ago.
fn ships(sends: u32) -> BlockBuf {
    let mut block = BlockBuf::default();
    block.assign(schema().fields(1), None);
    let all: &[usize] = if sends > 1 { &[0, 1] } else { &[0, 1, 9] };
    for (&slot, number) in all.iter().zip(1_u32..) {
        block.occupied |= 1 << slot;
        block.ids[slot] = 100 + number;
        let lanes = [
            100 * number - 5 * sends,
            sends.wrapping_neg(),
            3,
            10,
            20 + sends,
            30,
        ];
        for (lane, value) in lanes.into_iter().enumerate() {
            block.lanes[lane * SLOTS + slot] = value;
        }
        block.bytes[slot] = b"ship".as_slice().into();
    }
    block
}

fn rocks() -> BlockBuf {
    let mut block = BlockBuf::default();
    block.assign(schema().fields(0), None);
    block.occupied = 1 << 63;
    block.ids[63] = 7;
    block.lanes[63] = 5;
    block
}

/// What a reader holds: the ships of block 2 at two sends.
struct Holding {
    baseline: BlockBuf,
    previous: BlockBuf,
}

const AGES: Ages = Ages {
    baseline: 2,
    previous: 3,
};

impl Holding {
    fn new() -> Self {
        Self {
            baseline: ships(AGES.baseline.into()),
            previous: ships(AGES.previous.into()),
        }
    }
}

impl Held for Holding {
    fn block_at(&self, name: BlockName, send: SendIndex) -> Option<(usize, BlockView<'_>)> {
        let held = match HEADER.send.since(send) {
            2 => &self.baseline,
            3 => &self.previous,
            _ => return None,
        };
        (name.block == BlockNumber(2)).then(|| (1, held.view()))
    }
}

fn inspect(bytes: &[u8], trace: &mut dyn Trace) -> Result<(), DecodeError> {
    let mut packet = PacketReader::new(Reader::traced(bytes, trace))?;
    packet.notices(|_| ())?;
    let (schema, held) = (schema(), Holding::new());
    let mut coding = Coding::new(Prior::general(&schema));
    while let Some(head) = packet.record()? {
        let reading = Reading {
            schema: &schema,
            held: &held,
            send: HEADER.send,
        };
        let mut staging = Staging::default();
        let length = record::decode(&head, &reading, packet.rest(), &mut coding, &mut staging);
        let length = length.map_err(|error| match error {
            RecordError::Malformed(error) => error.behind(packet.at_bit()),
            RecordError::Lacking { .. } => panic!("{error}"),
        })?;
        packet.skip_body(length)?;
    }
    Ok(())
}

/// A packet with these records, each of all or one of the blocks 0 and 2.
fn packet(notices: Notices<'_>, records: &[(u32, Target, Ages)], last: Option<Last>) -> Vec<u8> {
    let (schema, held) = (schema(), Holding::new());
    let (rocks, ships) = (rocks(), ships(0));
    let mut coding = Coding::new(Prior::general(&schema));
    let mut out = Vec::new();
    let writer = PacketWriter::new(HEADER, &notices, 1_200, &mut out);
    let mut writer = writer.expect("there is room");
    for &(place, target, ages) in records {
        let head = RecordHead {
            place: PlaceNumber(place),
            target,
            form: Form::Packed,
            ages,
        };
        let past = |age: u8| match age {
            2 => Some(held.baseline.view()),
            3 => Some(held.previous.view()),
            _ => None,
        };
        let rocks = Changed {
            block: BlockNumber(0),
            archetype: 0,
            fields: schema.fields(0),
            baseline: None,
            previous: None,
            now: rocks.view(),
        };
        let ships = Changed {
            block: BlockNumber(2),
            archetype: 1,
            fields: schema.fields(1),
            baseline: past(ages.baseline),
            previous: past(ages.previous),
            now: ships.view(),
        };
        let mut body = Vec::new();
        let of_target = [rocks, ships].into_iter().filter(|changed| match target {
            Target::Place => true,
            Target::Block(block) => changed.block == block,
        });
        record::encode(&head, of_target, &mut coding, &mut body);
        writer.record(&head, &body).expect("there is room");
    }
    writer.finish(last);
    out
}

fn files() -> Vec<Golden> {
    let (none, ships) = (Notices::default(), Target::Block(BlockNumber(2)));
    let file = |name, title, bytes| Golden {
        name,
        title,
        sender: "server",
        bytes,
    };
    let last = Last {
        complete: 3,
        settled: 1,
    };
    let notices = Notices {
        clear: true,
        leaves: &[PlaceNumber(3), PlaceNumber(300)],
        gones: &[
            (PlaceNumber(7), BlockNumber(0)),
            (PlaceNumber(7), BlockNumber(900)),
        ],
    };
    let new = Ages::default();
    vec![
        file(
            "header-plain",
            "A packet without news",
            packet(none, &[], None),
        ),
        file(
            "header-last",
            "The last packet of its send",
            packet(none, &[], Some(last)),
        ),
        file(
            "notices-all",
            "Everything left, places left, blocks gone",
            packet(notices, &[], None),
        ),
        file(
            "record-new",
            "One block that the client has never held",
            packet(none, &[(200, ships, new)], None),
        ),
        file(
            "record-changed",
            "One block relative to two versions of it",
            packet(none, &[(200, ships, AGES)], None),
        ),
        file(
            "record-place",
            "All blocks of two places, the first of which did not exist at the baseline",
            packet(
                none,
                &[(200, Target::Place, AGES), (3, Target::Place, new)],
                None,
            ),
        ),
    ]
}

#[test]
fn packets_are_as_the_files_say() {
    for file in files() {
        file.check(FOLDER, inspect);
    }
}

#[test]
fn what_is_no_packet_is_refused() {
    let mut bytes = packet(
        Notices::default(),
        &[(1, Target::Place, Ages::default())],
        None,
    );
    // A previous version without a baseline.
    bytes[8] = 1;
    let file = Golden {
        name: "refused-head",
        title: "A previous version, and nothing that it comes before",
        sender: "server",
        bytes,
    };
    file.check_refused(FOLDER, inspect);
}

#[test]
fn every_file_is_known() {
    let known = files().into_iter().map(|file| file.name);
    check_folder(FOLDER, known.chain(["refused-head"]));
}
