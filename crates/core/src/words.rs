//! Enums that are words in JSON, in the configuration, in the store and on the command line. Each word is written once,
//! beside its variant, so that reading and writing cannot differ.
//!
//! A macro of ours instead of strum: its derives cost 1.2 CPU-seconds of a clean build, `as_str` would still be written
//! for each enum, and serde's names beside them. An enum whose texts are sentences, or whose variants carry data, is
//! written out.

#[doc(hidden)]
pub use serde;

/// Defines an enum with `ALL`, `as_str`, `parse`, `Serialize` and `Deserialize`; `Debug`, `Clone`, `Copy`, `PartialEq`
/// and `Eq` are derived as well.
///
/// ```ignore
/// word_enum! {
///     /// Where the request goes.
///     #[derive(Default)]
///     pub enum Direction {
///         #[default]
///         Up = "up",
///         Down = "down",
///     }
/// }
/// ```
#[macro_export]
macro_rules! word_enum {
    (
        $(#[$meta:meta])*
        $visible:vis enum $name:ident { $($(#[$about:meta])* $variant:ident = $word:literal),+ $(,)? }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        $visible enum $name { $($(#[$about])* $variant),+ }

        impl $name {
            const WORDS: [&'static str; [$($word),+].len()] = [$($word),+];

            pub const ALL: [Self; Self::WORDS.len()] = [$(Self::$variant),+];

            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word),+
                }
            }

            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|value| value.as_str() == text)
            }
        }

        impl $crate::words::serde::Serialize for $name {
            fn serialize<S: $crate::words::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> $crate::words::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::words::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let word: std::borrow::Cow<'de, str> = $crate::words::serde::Deserialize::deserialize(deserializer)?;
                Self::parse(&word).ok_or_else(|| $crate::words::serde::de::Error::unknown_variant(&word, &Self::WORDS))
            }
        }
    };
}

#[cfg(test)]
mod tests {
    word_enum! {
        #[derive(Default)]
        enum Direction {
            #[default]
            Up = "up",
            /// With a word that is not the name of the variant.
            Down = "to the ground",
        }
    }

    #[test]
    fn every_word_is_read_as_the_value_that_writes_it_and_no_other_is() {
        for direction in Direction::ALL {
            assert_eq!(Direction::parse(direction.as_str()), Some(direction));
            let json = serde_json::to_value(direction).unwrap();
            assert_eq!(json, direction.as_str());
            assert_eq!(serde_json::from_value::<Direction>(json).unwrap(), direction);
        }
        assert_eq!((Direction::default(), Direction::Down.as_str()), (Direction::Up, "to the ground"));
        assert_eq!(Direction::parse("Up"), None);
        let refusal = serde_json::from_str::<Direction>("\"left\"").unwrap_err().to_string();
        assert!(refusal.starts_with("unknown variant `left`, expected `up` or `to the ground`"), "{refusal}");
    }
}
