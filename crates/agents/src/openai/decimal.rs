//! Dollars as a decimal text to nano-dollars, without a floating number in between.

use shuntyard_core::Nano;

/// Digits that still fit the product below; more of them in a fraction are beyond any meaning.
const MOST_DIGITS: usize = 24;
/// Decimal places of a nano-dollar.
const PLACES: i32 = 9;

/// Reads a JSON number, or a JSON string that holds one. What is no amount is `None`: it must not become a free run.
pub(super) fn nano(json: &str) -> Option<Nano> {
    let text = json.trim();
    let text = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(text).trim();
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if (whole.is_empty() && fraction.is_empty()) || !all_digits(whole) || !all_digits(fraction) {
        return None;
    }
    let digits: String = [whole, fraction].concat();
    let significant = digits.trim_start_matches('0');
    if significant.is_empty() {
        return Some(Nano::ZERO);
    }
    let kept = &significant[..significant.len().min(MOST_DIGITS)];
    let dropped = i32::try_from(significant.len() - kept.len()).ok()?;
    let places = i32::try_from(fraction.len()).ok()?;
    let shift = exponent.checked_sub(places)?.checked_add(dropped)?.checked_add(PLACES)?;
    let value: i128 = kept.parse().ok()?;
    let scale = |power: i32| 10_i128.checked_pow(u32::try_from(power).ok()?);
    let nano = if shift >= 0 {
        value.checked_mul(scale(shift)?)?
    } else {
        match scale(shift.checked_neg()?) {
            // Half a nano-dollar is rounded up, as everywhere.
            Some(divisor) => (value + divisor / 2) / divisor,
            None => 0,
        }
    };
    i64::try_from(nano).ok().map(Nano)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn amounts_are_exact() {
        let table = [
            ("0", Some(0)),
            ("0.0", Some(0)),
            ("0.00315", Some(3_150_000)),
            ("0.000000001", Some(1)),
            ("0.0000000005", Some(1)),
            ("0.00000000049", Some(0)),
            ("1.2e-05", Some(12_000)),
            ("1E2", Some(100_000_000_000)),
            ("\"0.25\"", Some(250_000_000)),
            // No floating number of 64 bits distinguishes these two.
            ("1234567.890123456", Some(1_234_567_890_123_456)),
            ("9007199.254740993", Some(9_007_199_254_740_993)),
            ("0.1234567890123456789012345678901234567890", Some(123_456_789)),
            ("9223372036.854775807", Some(i64::MAX)),
            ("9223372036.854775808", None),
            ("1e999999999", None),
            ("1e-999999999", Some(0)),
            ("1e99999999999", None),
            ("-1", None),
            ("null", None),
            ("", None),
            (".", None),
            ("1.2.3", None),
            ("\"free\"", None),
            ("NaN", None),
        ];
        for (text, expected) in table {
            assert_eq!(nano(text), expected.map(Nano), "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_amount_survives_its_own_text(amount in 0..i64::MAX) {
            let text = format!("{}.{:09}", amount / 1_000_000_000, amount % 1_000_000_000);
            prop_assert_eq!(nano(&text), Some(Nano(amount)));
        }

        #[test]
        fn no_text_is_a_panic_or_a_gift(text in "\\PC{0,40}|[0-9.eE+-]{0,60}") {
            prop_assert!(nano(&text).is_none_or(|amount| amount >= Nano::ZERO));
        }
    }
}
