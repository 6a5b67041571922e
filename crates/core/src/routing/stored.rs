//! The stored form of a catalogue: lengths, numbers and texts one after the other, so that thousands of models are
//! read in little time. It has no keys, as a catalogue has none.
//!
//! Invariant: bytes that were changed, cut off or written in another layout are refused as a whole, since models are
//! decoded only later.

use super::{Catalogue, Model, Models, Provider, ReleaseDate, Source, Status};
use crate::{ModelRef, Nano, values::money::Price};
use std::{collections::BTreeMap, sync::Arc};

/// The version of the layout, to be raised with every change of what [`Writer`] writes. Each layout must be refused by
/// all others: a checksum alone would let one through, whose models could then not be decoded.
const LAYOUT: u64 = 1;
const SOURCES: [Source; 4] = [Source::Config, Source::Custom, Source::Env, Source::Api];
/// The bytes of a model in which all is empty.
const SHORTEST_MODEL: usize = 14;
const STATUSES: [Status; 4] = [Status::Active, Status::Beta, Status::Alpha, Status::Deprecated];

impl Catalogue {
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let Self { providers, default_model, small_model } = self;
        let mut writer = Writer(vec![0; 8]);
        writer.number(LAYOUT);
        writer.model_ref(default_model.as_ref());
        writer.model_ref(small_model.as_ref());
        writer.number(providers.len() as u64);
        for (id, provider) in providers {
            writer.provider(id, provider);
        }
        let Writer(mut bytes) = writer;
        let sum = checksum(&bytes[8..]).to_le_bytes();
        bytes[..8].copy_from_slice(&sum);
        bytes
    }

    /// `None` for anything that [`Self::to_bytes`] did not write.
    #[must_use]
    pub fn from_bytes(bytes: Vec<u8>) -> Option<Self> {
        let (sum, rest) = bytes.split_first_chunk()?;
        if u64::from_le_bytes(*sum) != checksum(rest) {
            return None;
        }
        let bytes = Arc::new(bytes);
        let mut reader = Reader { bytes: &bytes, at: 8 };
        if reader.number()? != LAYOUT {
            return None;
        }
        let (default_model, small_model) = (reader.model_ref()?, reader.model_ref()?);
        let count = reader.number()?;
        let providers = (0..count).map(|_| reader.provider(&bytes)).collect::<Option<BTreeMap<_, _>>>()?;
        (reader.at == bytes.len()).then_some(Self { providers, default_model, small_model })
    }
}

fn decode_models(bytes: &[u8]) -> Option<BTreeMap<String, Model>> {
    let mut reader = Reader { bytes, at: 0 };
    let count = reader.length()?;
    // Capacity for all at once, but never for more than the bytes can hold.
    let mut models = Vec::with_capacity(count.min(bytes.len() / SHORTEST_MODEL));
    for _ in 0..count {
        models.push(reader.model()?);
    }
    Some(models.into_iter().collect())
}

/// Eight bytes at a time: it has to notice damage, not an attack.
fn checksum(bytes: &[u8]) -> u64 {
    let mix = |sum: u64, word: u64| (sum ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
    let (words, rest) = bytes.as_chunks::<8>();
    let sum = words.iter().fold(bytes.len() as u64, |sum, word| mix(sum, u64::from_le_bytes(*word)));
    rest.iter().fold(sum, |sum, byte| mix(sum, u64::from(*byte)))
}

struct Writer(Vec<u8>);

impl Writer {
    /// Seven bits a byte, the lowest first; the highest bit means that more follow.
    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number.to_le_bytes()[0] | 0x80);
            number >>= 7;
        }
        self.0.push(number.to_le_bytes()[0]);
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
    }

    fn texts(&mut self, texts: &[String]) {
        self.number(texts.len() as u64);
        texts.iter().for_each(|text| self.text(text));
    }

    fn flags(&mut self, flags: &[bool]) {
        self.number(flags.iter().rev().fold(0, |all, flag| all << 1 | u64::from(*flag)));
    }

    fn model_ref(&mut self, model: Option<&ModelRef>) {
        self.flags(&[model.is_some(), model.is_some_and(|model| model.variant.is_some())]);
        if let Some(ModelRef { provider, model, variant }) = model {
            self.text(provider);
            self.text(model);
            variant.iter().for_each(|variant| self.text(variant));
        }
    }

    fn provider(&mut self, id: &str, provider: &Provider) {
        let Provider { source, has_key, connected, name, env, models } = provider;
        self.text(id);
        self.number(SOURCES.iter().position(|known| known == source).unwrap_or_default() as u64);
        self.flags(&[*has_key, *connected]);
        self.text(name);
        self.texts(env);
        let mut block = Self(Vec::new());
        block.number(models.len() as u64);
        for (key, model) in models.iter() {
            block.model(key, model);
        }
        self.number(block.0.len() as u64);
        self.0.extend(block.0);
    }

    fn model(&mut self, key: &str, model: &Model) {
        let Model {
            id,
            name,
            family,
            image_input,
            tool_calls,
            reasoning,
            attachments,
            structured_output,
            text_output,
            context,
            output,
            price,
            variants,
            status,
            release_date,
        } = model;
        let able = [*image_input, *tool_calls, *reasoning, *attachments, *structured_output, *text_output];
        self.text(key);
        self.text(id);
        self.text(name);
        self.text(family);
        self.flags(&able);
        self.number(*context);
        self.number(*output);
        let Price { input, output, cache_read, cache_write } = price;
        for Nano(amount) in [input, output, cache_read, cache_write] {
            self.number(amount.cast_unsigned());
        }
        self.texts(variants);
        self.number(STATUSES.iter().position(|known| known == status).unwrap_or_default() as u64);
        self.text(release_date.as_str());
    }
}

/// Reads what a [`Writer`] wrote; `None` where it cannot have.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = *self.bytes.get(self.at)?;
            self.at += 1;
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn length(&mut self) -> Option<usize> {
        self.number().and_then(|number| usize::try_from(number).ok())
    }

    fn str(&mut self) -> Option<&'a str> {
        let length = self.length()?;
        let text = self.bytes.get(self.at..self.at.checked_add(length)?)?;
        self.at += length;
        std::str::from_utf8(text).ok()
    }

    fn text(&mut self) -> Option<String> {
        self.str().map(str::to_owned)
    }

    fn texts(&mut self) -> Option<Vec<String>> {
        let count = self.number()?;
        (0..count).map(|_| self.text()).collect()
    }

    fn flags<const COUNT: usize>(&mut self) -> Option<[bool; COUNT]> {
        let flags = self.number()?;
        Some(std::array::from_fn(|place| flags >> place & 1 == 1))
    }

    fn one_of<T: Copy>(&mut self, known: &[T]) -> Option<T> {
        self.length().and_then(|place| known.get(place).copied())
    }

    fn model_ref(&mut self) -> Option<Option<ModelRef>> {
        let [is_set, has_variant] = self.flags()?;
        if !is_set {
            return Some(None);
        }
        let (provider, model) = (self.text()?, self.text()?);
        let variant = if has_variant { Some(self.text()?) } else { None };
        Some(Some(ModelRef { provider, model, variant }))
    }

    fn provider(&mut self, catalogue: &Arc<Vec<u8>>) -> Option<(String, Provider)> {
        let (id, source, [has_key, connected]) = (self.text()?, self.one_of(&SOURCES)?, self.flags()?);
        let (name, env, length) = (self.text()?, self.texts()?, self.length()?);
        let end = self.at.checked_add(length).filter(|end| *end <= self.bytes.len())?;
        let models = Models::stored(catalogue, self.at..end, decode_models);
        self.at = end;
        Some((id, Provider { source, has_key, connected, name, env, models }))
    }

    fn model(&mut self) -> Option<(String, Model)> {
        let (key, id, name, family) = (self.text()?, self.text()?, self.text()?, self.text()?);
        let [image_input, tool_calls, reasoning, attachments, structured_output, text_output] = self.flags()?;
        let (context, output) = (self.number()?, self.number()?);
        let mut nano = || self.number().map(|amount| Nano(amount.cast_signed()));
        let price = Price { input: nano()?, output: nano()?, cache_read: nano()?, cache_write: nano()? };
        let (variants, status) = (self.texts()?, self.one_of(&STATUSES)?);
        let release_date = ReleaseDate::from(self.str()?);
        let model = Model {
            id,
            name,
            family,
            image_input,
            tool_calls,
            reasoning,
            attachments,
            structured_output,
            text_output,
            context,
            output,
            price,
            variants,
            status,
            release_date,
        };
        Some((key, model))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn catalogue() -> Catalogue {
        let model = Model {
            id: "m-1".into(),
            name: "Größe\t1".into(),
            family: "m".into(),
            tool_calls: true,
            attachments: true,
            text_output: true,
            context: 200_000,
            output: u64::MAX,
            price: Price { input: Nano(3_000_000_000), output: Nano(-1), cache_read: Nano(1), cache_write: Nano(0) },
            variants: vec!["low".into(), "high".into()],
            status: Status::Deprecated,
            release_date: "2026-09".into(),
            ..Model::default()
        };
        let full = Provider {
            source: Source::Env,
            has_key: true,
            connected: false,
            name: "A & B".into(),
            env: vec!["A_KEY".into(), "B_KEY".into()],
            models: [("key".to_owned(), model), (String::new(), Model::default())].into(),
        };
        let variant = Some("high".to_owned());
        Catalogue {
            providers: [("a".to_owned(), full), ("b".to_owned(), Provider::default())].into(),
            default_model: Some(ModelRef { variant, ..ModelRef::new("a", "m/1") }),
            small_model: None,
        }
    }

    #[test]
    fn a_catalogue_is_read_as_it_was_written() {
        for catalogue in [catalogue(), Catalogue::default()] {
            let bytes = catalogue.to_bytes();
            let read = Catalogue::from_bytes(bytes.clone()).unwrap();
            assert_eq!(read, catalogue);
            assert_eq!(read.clone().to_bytes(), bytes);
        }
        let mut changed = Catalogue::from_bytes(catalogue().to_bytes()).unwrap();
        let models = &mut changed.providers.get_mut("a").unwrap().models;
        models.edit(|models| models.remove(""));
        models.edit(|models| models.insert("new".into(), Model::default()));
        assert_eq!(models.keys().collect::<Vec<_>>(), ["key", "new"]);
    }

    /// When this fails, the layout has changed: raise its version, and put the new sum here.
    #[test]
    fn a_changed_layout_has_another_version() {
        assert_eq!((LAYOUT, checksum(&catalogue().to_bytes()[8..])), (1, 0x4726_D6AC_5579_4BD6));
    }

    #[test]
    fn another_layout_is_refused_although_its_checksum_is_right() {
        let mut other = catalogue().to_bytes();
        other[8] = other[8].wrapping_add(1);
        let sum = checksum(&other[8..]).to_le_bytes();
        other[..8].copy_from_slice(&sum);
        assert_eq!(Catalogue::from_bytes(other), None);
    }

    #[test]
    fn damaged_bytes_are_refused() {
        let bytes = catalogue().to_bytes();
        for end in 0..bytes.len() {
            assert_eq!(Catalogue::from_bytes(bytes[..end].to_vec()), None, "cut off at {end}");
        }
        for place in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[place] ^= 1 << (place % 8);
            assert_eq!(Catalogue::from_bytes(damaged), None, "changed at {place}");
        }
        // The same with a checksum that is right, as from another version: no answer may be a panic.
        for (place, byte) in (8..bytes.len()).flat_map(|place| [0, 1, 0x7F, 0x80, 0xFF].map(|byte| (place, byte))) {
            let mut other = bytes.clone();
            other[place] = byte;
            let sum = checksum(&other[8..]).to_le_bytes();
            other[..8].copy_from_slice(&sum);
            let read = Catalogue::from_bytes(other);
            let models = read.iter().flat_map(|catalogue| catalogue.models()).count();
            assert!(models <= 2, "{place} {byte}");
        }
    }
}
