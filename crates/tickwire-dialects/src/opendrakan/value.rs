//! The values of states.

use tickwire_state::{Quat, Vec2, Vec3};
use tickwire_wire::DecodeError;

use super::{Reader, Writer};

/// The table: a kind of values, its type, its bytes, and the value of a state that was never set.
macro_rules! kinds {
    ($($kind:ident($type:ty) $size:literal, $zero:expr;)*) => {
        /// What a state holds.
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        #[expect(missing_docs, reason = "each is the type of its name")]
        pub enum Kind {
            $($kind,)*
        }

        /// The value of a state.
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[expect(missing_docs, reason = "each is the type of its name")]
        pub enum Value {
            $($kind($type),)*
        }

        impl Kind {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$kind,)*];

            /// Bytes of a value; a boolean shares its byte with its neighbours.
            pub const fn size(self) -> usize {
                match self {
                    $(Self::$kind => $size,)*
                }
            }

            /// The value that a state has before it was ever set.
            pub const fn zero(self) -> Value {
                match self {
                    $(Self::$kind => Value::$kind($zero),)*
                }
            }
        }

        impl Value {
            /// What kind it is.
            pub const fn kind(self) -> Kind {
                match self {
                    $(Self::$kind(_) => Kind::$kind,)*
                }
            }
        }
    };
}

kinds! {
    Bool(bool) 1, false;
    U8(u8) 1, 0;
    I8(i8) 1, 0;
    U16(u16) 2, 0;
    I16(i16) 2, 0;
    U32(u32) 4, 0;
    I32(i32) 4, 0;
    U64(u64) 8, 0;
    F32(f32) 4, 0.0;
    F64(f64) 8, 0.0;
    Vec2(Vec2) 8, Vec2 { x: 0.0, y: 0.0 };
    Vec3(Vec3) 12, Vec3::ZERO;
    Quat(Quat) 16, Quat::IDENTITY;
}

impl Kind {
    /// Reads a value of a whole number of bytes. Booleans are the bundle's, which packs them.
    pub(super) fn decode(
        self,
        r: &mut Reader<'_>,
        field: &'static str,
    ) -> Result<Value, DecodeError> {
        Ok(match self {
            Self::Bool => Value::Bool(r.u8(field)? & 1 == 1),
            Self::U8 => Value::U8(r.u8(field)?),
            Self::I8 => Value::I8(r.i8(field)?),
            Self::U16 => Value::U16(r.u16(field)?),
            Self::I16 => Value::I16(r.i16(field)?),
            Self::U32 => Value::U32(r.u32(field)?),
            Self::I32 => Value::I32(r.i32(field)?),
            Self::U64 => Value::U64(r.u64(field)?),
            Self::F32 => Value::F32(r.f32(field)?),
            Self::F64 => Value::F64(r.f64(field)?),
            Self::Vec2 => Value::Vec2(Vec2 {
                x: r.f32(field)?,
                y: r.f32(field)?,
            }),
            Self::Vec3 => Value::Vec3(Vec3 {
                x: r.f32(field)?,
                y: r.f32(field)?,
                z: r.f32(field)?,
            }),
            Self::Quat => Value::Quat(Quat {
                x: r.f32(field)?,
                y: r.f32(field)?,
                z: r.f32(field)?,
                w: r.f32(field)?,
            }),
        })
    }
}

impl Value {
    /// Whether every number in it is one.
    pub const fn is_finite(self) -> bool {
        match self {
            Self::F32(x) => x.is_finite(),
            Self::F64(x) => x.is_finite(),
            Self::Vec2(Vec2 { x, y }) => x.is_finite() && y.is_finite(),
            Self::Vec3(Vec3 { x, y, z }) => x.is_finite() && y.is_finite() && z.is_finite(),
            Self::Quat(Quat { x, y, z, w }) => {
                x.is_finite() && y.is_finite() && z.is_finite() && w.is_finite()
            }
            _ => true,
        }
    }

    /// The same bits: what a receiver could not tell apart. Other than `==`, NaN equals itself, and 0
    /// differs from −0.
    pub fn is_same(self, other: Self) -> bool {
        self.kind() == other.kind() && self.bits() == other.bits()
    }

    /// The bits as they go on the wire, padded with zeroes.
    pub(super) fn bits(self) -> [u32; 4] {
        let low = |x: u64| {
            let [a, b, c, d, e, f, g, h] = x.to_le_bytes();
            [
                u32::from_le_bytes([a, b, c, d]),
                u32::from_le_bytes([e, f, g, h]),
                0,
                0,
            ]
        };
        match self {
            Self::Bool(x) => [x.into(), 0, 0, 0],
            Self::U8(x) => [x.into(), 0, 0, 0],
            Self::I8(x) => [x.cast_unsigned().into(), 0, 0, 0],
            Self::U16(x) => [x.into(), 0, 0, 0],
            Self::I16(x) => [x.cast_unsigned().into(), 0, 0, 0],
            Self::U32(x) => [x, 0, 0, 0],
            Self::I32(x) => [x.cast_unsigned(), 0, 0, 0],
            Self::U64(x) => low(x),
            Self::F32(x) => [x.to_bits(), 0, 0, 0],
            Self::F64(x) => low(x.to_bits()),
            Self::Vec2(Vec2 { x, y }) => [x.to_bits(), y.to_bits(), 0, 0],
            Self::Vec3(Vec3 { x, y, z }) => [x.to_bits(), y.to_bits(), z.to_bits(), 0],
            Self::Quat(Quat { x, y, z, w }) => [x.to_bits(), y.to_bits(), z.to_bits(), w.to_bits()],
        }
    }

    /// Writes the value; booleans are the bundle's.
    pub(super) fn encode(self, w: &mut Writer<'_>) {
        match self {
            Self::Bool(x) => w.u8(x.into()),
            Self::U8(x) => w.u8(x),
            Self::I8(x) => w.i8(x),
            Self::U16(x) => w.u16(x),
            Self::I16(x) => w.i16(x),
            Self::U32(x) => w.u32(x),
            Self::I32(x) => w.i32(x),
            Self::U64(x) => w.u64(x),
            Self::F32(x) => w.f32(x),
            Self::F64(x) => w.f64(x),
            Self::Vec2(Vec2 { x, y }) => [x, y].into_iter().for_each(|part| w.f32(part)),
            Self::Vec3(Vec3 { x, y, z }) => [x, y, z].into_iter().for_each(|part| w.f32(part)),
            Self::Quat(Quat { x, y, z, w: real }) => {
                [x, y, z, real].into_iter().for_each(|part| w.f32(part));
            }
        }
    }
}
