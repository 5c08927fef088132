//! What an archetype consists of: fields, each of one or more integer *lanes*.
//!
//! Values are quantised once, when they are written. From then on everything works on lanes: unsigned
//! 32-bit integers, one per slot and lane, equal on both sides. How a Rust value becomes lanes is the
//! derive's and the quantisers' business, how lanes become bytes the record coders'.

/// One field of an archetype.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Field {
    /// The path from the archetype to it, such as `body.velocity`.
    pub name: &'static str,
    /// What its lanes hold.
    pub kind: Kind,
    /// What a lane is worth. Coders never look at it; two peers must agree on it all the same.
    pub scale: Scale,
    /// How many components a vector has; 1 for everything else.
    pub components: u8,
    /// What a replica shows between two sends.
    pub playback: Playback,
    /// Whether it decides in which grid cell the entity lies. At most one field of an archetype does,
    /// with two or three components.
    pub is_position: bool,
}

/// What the lanes of a field hold.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Kind {
    /// 0 or 1.
    Flag,
    /// 0 to `max`.
    Unsigned {
        /// The largest value.
        max: u32,
    },
    /// `min` to `max`, in two's complement.
    Signed {
        /// The smallest value.
        min: i32,
        /// The largest value.
        max: i32,
    },
    /// A direction: 0 to 2^`bits` - 1, and then 0 again. Differences wrap.
    Angle {
        /// 1 to 32.
        bits: u8,
    },
    /// A unit quaternion as its smallest three: the index of the largest component (0 to 3), then the
    /// three others in order, each 0 to 2^`bits` - 1.
    Quaternion {
        /// Bits a component, 2 to 15.
        bits: u8,
    },
    /// Another entity's id; 0 for none.
    Entity,
    /// At most `max` bytes. They lie beside the lanes, see [`BlockView::bytes`](crate::BlockView::bytes).
    Bytes {
        /// The longest value.
        max: u16,
    },
}

/// What a lane is worth: `offset + lane × step`.
///
/// The two numbers are kept as the bits of an `f64`, so that scales compare exactly.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Scale {
    offset: u64,
    step: u64,
}

impl Scale {
    /// A lane is worth itself; also that of kinds which say by themselves what a lane is worth.
    pub const ONE: Self = Self::new(0.0, 1.0);

    /// The scale whose lane 0 is worth `offset` and each further one `step` more.
    pub const fn new(offset: f64, step: f64) -> Self {
        Self {
            offset: offset.to_bits(),
            step: step.to_bits(),
        }
    }

    /// What lane 0 is worth.
    pub const fn offset(self) -> f64 {
        f64::from_bits(self.offset)
    }

    /// How much more the next lane is worth.
    pub const fn step(self) -> f64 {
        f64::from_bits(self.step)
    }
}

/// What a replica shows between two sends.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Playback {
    /// The value of the earlier one.
    Hold,
    /// What lies between, unless it moved by more than `jump_over` quantisation steps.
    Interpolate {
        /// `u32::MAX`: never a jump.
        jump_over: u32,
    },
}

impl Field {
    /// A single value that is worth its lane and is held between two sends.
    pub const fn new(name: &'static str, kind: Kind) -> Self {
        Self {
            name,
            kind,
            scale: Scale::ONE,
            components: 1,
            playback: Playback::Hold,
            is_position: false,
        }
    }

    /// How many lanes it takes.
    pub const fn lanes(&self) -> usize {
        match self.kind {
            Kind::Bytes { .. } => 0,
            Kind::Quaternion { .. } => 4,
            Kind::Flag
            | Kind::Unsigned { .. }
            | Kind::Signed { .. }
            | Kind::Angle { .. }
            | Kind::Entity => self.components as usize,
        }
    }
}

/// How many lanes these fields take together.
pub(crate) fn lanes(fields: &[Field]) -> usize {
    fields.iter().map(Field::lanes).sum()
}

/// The fields that hold bytes, in order.
pub(crate) fn bytes_fields(fields: &[Field]) -> impl Iterator<Item = &Field> {
    let is_bytes = |field: &&Field| matches!(field.kind, Kind::Bytes { .. });
    fields.iter().filter(is_bytes)
}
