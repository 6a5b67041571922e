//! Sizes in bytes as people read them.

const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];

/// Three digits at most: `512 B`, `1.4 KiB`, `640 MiB`, `8.0 GiB`. Rounded to the nearest.
#[must_use]
pub fn show(bytes: u64) -> String {
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    // A float is exact enough for three digits.
    let mut number = bytes as f64 / 1024.0;
    let mut unit = 0;
    // 999.5 and above would be shown with four digits.
    while number >= 999.5 && unit + 1 < UNITS.len() {
        number /= 1024.0;
        unit += 1;
    }
    let decimals = usize::from(number < 9.95);
    format!("{number:.decimals$} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::show;

    #[test]
    fn sizes_have_three_digits_at_most() {
        for (bytes, text) in [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "1.0 KiB"),
            (1024, "1.0 KiB"),
            (1536, "1.5 KiB"),
            (10_188, "9.9 KiB"),
            (10_189, "10 KiB"),
            (1_023_487, "999 KiB"),
            (1_023_488, "1.0 MiB"),
            (654_311_424, "624 MiB"),
            (8192 << 20, "8.0 GiB"),
            (25 << 30, "25 GiB"),
            (3 << 40, "3.0 TiB"),
            (u64::MAX, "16384 PiB"),
        ] {
            assert_eq!(show(bytes), text, "{bytes}");
        }
    }
}
