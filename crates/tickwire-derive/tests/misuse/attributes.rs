use tickwire_replica::{Archetypes, Replicate};

#[derive(Clone, Replicate)]
struct FloatAlone {
    speed: f32,
}

#[derive(Clone, Replicate)]
struct VectorAlone {
    place: [f64; 3],
}

#[derive(Clone, Replicate)]
struct FloatRange {
    #[replicate(range = 0.0..=1.0)]
    health: f32,
}

#[derive(Clone, Replicate)]
struct FloatBits {
    #[replicate(bits = 8)]
    health: f32,
}

#[derive(Clone, Replicate)]
struct StepAndBits {
    #[replicate(step = 0.1, bits = 8)]
    health: f32,
}

#[derive(Clone, Replicate)]
struct IntegerStep {
    #[replicate(step = 5)]
    score: u16,
}

#[derive(Clone, Replicate)]
struct IntegerRangeAndBits {
    #[replicate(range = 0..=9, bits = 4)]
    score: u16,
}

#[derive(Clone, Replicate)]
struct WideInteger {
    account: u64,
}

#[derive(Clone, Replicate)]
struct TextAlone {
    name: String,
}

#[derive(Clone, Replicate)]
struct TextRange {
    #[replicate(bits = 8)]
    name: String,
}

#[derive(Clone, Replicate)]
struct TextAndStep {
    #[replicate(max = 8, step = 1.0)]
    name: String,
}

#[derive(Clone, Replicate)]
struct AngleAlone {
    #[replicate(angle)]
    heading: f32,
}

#[derive(Clone, Replicate)]
struct QuaternionAlone {
    #[replicate(quaternion)]
    turn: [f32; 4],
}

#[derive(Clone, Replicate)]
struct AngleOfText {
    #[replicate(angle, max = 3)]
    heading: f32,
}

#[derive(Clone, Replicate)]
struct HalfOpen {
    #[replicate(range = 0..10)]
    digit: u8,
}

#[derive(Clone, Replicate)]
struct Misspelt {
    #[replicate(stepp = 0.1)]
    speed: f32,
}

#[derive(Clone, Replicate)]
struct Twice {
    #[replicate(step = 0.1, step = 0.2)]
    speed: f32,
}

#[derive(Clone, Replicate)]
struct HoldAndInterpolate {
    #[replicate(step = 0.1, hold, interpolate)]
    speed: f32,
}

#[derive(Clone, Replicate)]
struct InterpolatedFlag {
    #[replicate(interpolate)]
    open: bool,
}

#[derive(Clone, Replicate)]
struct HeldJump {
    #[replicate(step = 0.1, hold, jump_over = 5.0)]
    speed: f32,
}

#[derive(Clone, Replicate)]
struct JumpingTurn {
    #[replicate(quaternion, bits = 9, jump_over = 1.0)]
    turn: [f32; 4],
}

#[derive(Clone, Replicate)]
struct PositionOfAngle {
    #[replicate(angle, bits = 8, position)]
    heading: [f32; 2],
}

#[derive(Clone, Replicate)]
enum PositionInVariant {
    At(#[replicate(step = 0.1, position)] [f32; 2]),
    Nowhere,
}

#[derive(Clone, Replicate)]
enum NoVariants {}

#[derive(Clone, Replicate)]
struct Generic<T> {
    value: T,
}

#[derive(Clone, Copy, Replicate)]
union Either {
    a: u32,
    b: i32,
}

#[derive(Clone, Replicate)]
#[replicate(step = 0.1)]
struct OnTheType {
    speed: u8,
}

#[derive(Archetypes)]
struct NotAnEnum;

#[derive(Archetypes)]
enum WithFields {
    Ship { health: u8 },
}

#[derive(Archetypes)]
enum Empty {}

fn main() {}
