//! How many runs fit.

use super::*;

#[test]
fn room_table() {
    // base, most, memory available and processor in percent, capacity
    let table = [
        (4, 8, None, 4),
        (4, 8, Some((60, 10)), 8),
        (4, 6, Some((60, 10)), 6),
        (4, 100, Some((100, 0)), 8),
        (4, 8, Some((50, 29)), 8),
        (4, 8, Some((49, 29)), 4),
        (4, 8, Some((50, 30)), 4),
        (4, 8, Some((10, 79)), 4),
        (4, 8, Some((9, 0)), 1),
        (4, 8, Some((100, 80)), 1),
        (4, 8, Some((0, 100)), 1),
        (4, 8, Some((0, u32::MAX)), 1),
        (1, 1, Some((100, 0)), 1),
        (1, 8, Some((100, 0)), 2),
        // Never nothing, and never more than the most.
        (0, 0, None, 1),
        (0, 8, Some((100, 0)), 2),
        (4, 0, Some((100, 0)), 1),
        (4, 2, None, 2),
        (4, 2, Some((30, 50)), 2),
        (4, 2, Some((100, 0)), 2),
        (u32::MAX, u32::MAX, Some((100, 0)), u32::MAX),
    ];
    for (base, most, pressure, wanted) in table {
        let pressure = pressure.map(|(memory_available, processor)| Pressure { memory_available, processor });
        assert_eq!(room(base, most, pressure), wanted, "{base} {most} {pressure:?}");
    }
}
