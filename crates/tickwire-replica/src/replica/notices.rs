//! What the packet that is being read says was left.

use alloc::vec::Vec;

use tickwire_wire::DecodeError;

use crate::packet::{Notice, PacketReader};
use crate::record::BlockName;
use crate::replica::ApplyError;

/// The notices of a packet, in the order in which they were read: places ascend, then blocks do.
#[derive(Debug, Default)]
pub(super) struct StagedNotices(Vec<Notice>);

impl StagedNotices {
    /// Replaces them by those of `packet`. There are fewer than it has bytes.
    pub(super) fn read(&mut self, packet: &mut PacketReader<'_>) -> Result<(), DecodeError> {
        self.0.clear();
        packet.notices(|notice| self.0.push(notice))
    }

    pub(super) fn all(&self) -> &[Notice] {
        &self.0
    }

    /// Whether a record is not contradicted in the same packet.
    pub(super) fn check_record(&self, name: BlockName) -> Result<(), ApplyError> {
        let holds = |notice| self.0.binary_search(&notice).is_ok();
        let BlockName { place, block } = name;
        if holds(Notice::Clear) || holds(Notice::Leave(place)) || holds(Notice::Gone(place, block))
        {
            return Err(ApplyError::Overtaken);
        }
        Ok(())
    }
}
