//! One entity's lanes and bytes, in the order of its fields.
//!
//! A value is stored into a row of its own before anything is published, so that one which does not fit
//! changes nothing. It is loaded from a row, or straight from a block's columns. Both cursors count
//! lanes; which field a lane belongs to matters only to the name in an error.

use alloc::sync::Arc;

use crate::schema::{Field, Kind};
use crate::value::{FieldError, Unfit};
use crate::{BlockView, SLOTS};

/// Where a value is stored, field by field.
#[derive(Debug)]
pub struct RowWriter<'a> {
    fields: &'a [Field],
    lanes: &'a mut [u32],
    lane: usize,
    bytes: &'a mut [Arc<[u8]>],
    text: usize,
}

impl<'a> RowWriter<'a> {
    /// Writes a row of these fields.
    ///
    /// `bytes` holds earlier values of the fields that hold bytes. One that is equal stays, and nothing
    /// is allocated.
    pub const fn new(
        fields: &'a [Field],
        lanes: &'a mut [u32],
        bytes: &'a mut [Arc<[u8]>],
    ) -> Self {
        Self {
            fields,
            lanes,
            lane: 0,
            bytes,
            text: 0,
        }
    }

    /// The next lane.
    pub fn put(&mut self, lane: u32) {
        if let Some(place) = self.lanes.get_mut(self.lane) {
            *place = lane;
        }
        self.lane += 1;
    }

    /// The next field of bytes.
    pub fn put_bytes(&mut self, value: &[u8], max: u16) -> Result<(), FieldError> {
        if value.len() > usize::from(max) {
            let length = value.len();
            return Err(FieldError {
                field: self.text_name(),
                why: Unfit::TooLong { length, max },
            });
        }
        if let Some(place) = self.bytes.get_mut(self.text)
            && **place != *value
        {
            *place = value.into();
        }
        self.text += 1;
        Ok(())
    }

    /// As many lanes of 0 and empty bytes as these fields have: they are absent.
    pub fn skip(&mut self, fields: &[Field]) {
        for field in fields {
            if matches!(field.kind, Kind::Bytes { .. }) {
                if let Some(place) = self.bytes.get_mut(self.text)
                    && !place.is_empty()
                {
                    *place = Arc::default();
                }
                self.text += 1;
            }
            for _ in 0..field.lanes() {
                self.put(0);
            }
        }
    }

    /// The error of the field that the next lane belongs to.
    #[cold]
    pub fn refuse(&self, why: Unfit) -> FieldError {
        let mut first = 0;
        let is_it = |field: &&Field| {
            first += field.lanes();
            self.lane < first
        };
        let field = self.fields.iter().find(is_it);
        FieldError {
            field: field.map_or("", |field| field.name),
            why,
        }
    }

    #[cold]
    fn text_name(&self) -> &'static str {
        let mut texts = self
            .fields
            .iter()
            .filter(|field| matches!(field.kind, Kind::Bytes { .. }));
        texts.nth(self.text).map_or("", |field| field.name)
    }
}

/// What a value is loaded from, field by field.
#[derive(Clone, Debug)]
pub struct RowReader<'a> {
    lanes: &'a [u32],
    lane: usize,
    bytes: &'a [Arc<[u8]>],
    text: usize,
    /// From one lane of the entity to its next, and likewise for bytes.
    stride: usize,
}

impl<'a> RowReader<'a> {
    /// Reads a row as [`RowWriter`] wrote it.
    pub const fn new(lanes: &'a [u32], bytes: &'a [Arc<[u8]>]) -> Self {
        Self {
            lanes,
            lane: 0,
            bytes,
            text: 0,
            stride: 1,
        }
    }

    /// Reads one slot of a block.
    pub const fn slot(block: BlockView<'a>, slot: usize) -> Self {
        Self {
            lanes: block.lanes,
            lane: slot,
            bytes: block.bytes,
            text: slot,
            stride: SLOTS,
        }
    }

    /// The next lane; 0 after the last.
    pub fn take(&mut self) -> u32 {
        let lane = self.lanes.get(self.lane).copied().unwrap_or_default();
        self.lane += self.stride;
        lane
    }

    /// The next field of bytes; empty after the last.
    pub fn take_bytes(&mut self) -> &'a [u8] {
        let text = self.bytes.get(self.text).map_or(&[][..], |bytes| bytes);
        self.text += self.stride;
        text
    }

    /// Passes over these fields, which are absent.
    pub fn skip(&mut self, fields: &[Field]) {
        for field in fields {
            self.lane += field.lanes() * self.stride;
            if matches!(field.kind, Kind::Bytes { .. }) {
                self.text += self.stride;
            }
        }
    }
}
