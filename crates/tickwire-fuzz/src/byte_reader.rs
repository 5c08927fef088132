//! The byte cursor in both byte orders: every kind of field, written back as it was read.

use tickwire_wire::{BigEndian, DecodeError, Endian, FieldLog, LittleEndian, Reader, Writer};

use crate::script::Script;
use crate::trace::traced_end;

/// Reads fields of any kind and checks position, errors and trace.
///
/// # Panics
/// If the reader is wrong.
pub fn byte_reader(bytes: &[u8]) {
    check_order::<BigEndian>(bytes);
    check_order::<LittleEndian>(bytes);
}

fn check_order<E: Endian>(bytes: &[u8]) {
    let mut script = Script::new(bytes);
    let fields = script.blob();
    let input = script.rest();
    let mut log = FieldLog::default();
    let mut traced = Reader::<E>::traced(input, &mut log);
    let mut r = Reader::<E>::new(input);
    let mut copy = Vec::new();
    for &choice in fields {
        let before = r.position();
        let read = copy_field(choice, &mut r, &mut Writer::new(&mut copy, usize::MAX));
        let mut again = Vec::new();
        let traced_read = copy_field(
            choice,
            &mut traced,
            &mut Writer::new(&mut again, usize::MAX),
        );
        assert_eq!(read, traced_read);
        assert_eq!(r.position(), traced.position());
        match read {
            Ok(()) => assert_eq!(again, input[before..r.position()]),
            // Read whole, and refused for what it says.
            Err(DecodeError::NotUtf8 { .. }) => copy.extend(&input[before..r.position()]),
            Err(error) => {
                assert_eq!(error.at_bit() as usize, before * 8);
                assert_eq!(r.position(), before, "{error} moved the cursor");
            }
        }
        assert_eq!(copy, input[..r.position()]);
    }
    assert_eq!(r.finish().is_ok(), r.is_empty());
    assert_eq!(r.finish(), traced.finish());
    let read = r.position() * 8;
    assert_eq!(traced_end(&log) as usize, read);
}

/// Reads one field and writes what was read.
fn copy_field<E: Endian>(
    choice: u8,
    r: &mut Reader<'_, E>,
    w: &mut Writer<'_, E>,
) -> Result<(), DecodeError> {
    let length = usize::from(choice / 12);
    match choice % 12 {
        0 => w.u8(r.u8("u8")?),
        1 => w.u16(r.u16("u16")?),
        2 => w.u32(r.u32("u32")?),
        3 => w.u64(r.u64("u64")?),
        4 => w.i8(r.i8("i8")?),
        5 => w.i16(r.i16("i16")?),
        6 => w.i32(r.i32("i32")?),
        7 => w.f32(r.f32("f32")?),
        8 => w.f64(r.f64("f64")?),
        9 => w.bytes(r.bytes("bytes", length)?),
        10 => w.bytes(r.text("text", length)?.as_bytes()),
        _ => {
            let ahead = r.peek(length);
            let taken = r.group("group", |r| r.bytes("peeked", ahead.len()))?;
            assert_eq!(taken, ahead);
            w.bytes(taken);
        }
    }
    Ok(())
}
