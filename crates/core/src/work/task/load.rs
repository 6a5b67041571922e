//! How many runs fit, by the load that the machine reports.

/// Both in percent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pressure {
    pub memory_available: u32,
    pub processor: u32,
}

/// How many runs there may be at once: at least one, and never more than `most`. `None` for what is not known leaves
/// the base as it is.
#[must_use]
pub fn room(base: u32, most: u32, pressure: Option<Pressure>) -> u32 {
    let (base, most) = (base.max(1), most.max(1));
    let room = match pressure {
        None => base,
        Some(Pressure { memory_available, processor }) if memory_available < 10 || processor >= 80 => 1,
        Some(Pressure { memory_available, processor }) if memory_available >= 50 && processor < 30 => {
            base.saturating_mul(2)
        }
        Some(_) => base,
    };
    room.min(most)
}
