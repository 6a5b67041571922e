//! The characters that a name has, as a set of bits: a cheap check that rules most names out before they are compared.

/// The bit of every byte that is no ASCII character.
const OTHER: u64 = 1 << 63;

/// The bit of each byte. A table, because thousands of names are looked at for one answer.
const BITS: [u64; 256] = {
    let mut bits = [OTHER; 256];
    let mut byte = 0;
    while byte < 128 {
        // In upper case no letter, digit or usual separator of a name shares its lowest six bits with another.
        let place = (byte as u8).to_ascii_uppercase() & 63;
        bits[byte] = 1 << if place == 63 { 62 } else { place };
        byte += 1;
    }
    bits
};

/// One bit for each character of an ASCII text, upper and lower case alike; `None` for any other text, which such a
/// set cannot represent. Two characters may share a bit, so only a missing bit proves anything.
pub(crate) fn letters(text: &str) -> Option<u64> {
    let set = text.bytes().fold(0, |set, byte| set | BITS[usize::from(byte)]);
    (set & OTHER == 0).then_some(set)
}

#[cfg(test)]
mod tests {
    use super::letters;
    use std::collections::BTreeSet;

    #[test]
    fn the_characters_of_names_have_a_bit_each() {
        let all = "abcdefghijklmnopqrstuvwxyz0123456789-./:_@";
        let bits: BTreeSet<Option<u64>> = all.chars().map(|c| letters(&c.to_string())).collect();
        assert_eq!(bits.len(), all.len());
        assert_eq!(letters(all).map(u64::count_ones), u32::try_from(all.len()).ok());
        assert_eq!(letters("Claude-5"), letters("claUDE-5"));
        assert_eq!((letters(""), letters("café")), (Some(0), None));
    }
}
