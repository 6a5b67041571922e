//! The models of one provider. Those of a stored catalogue are decoded when they are first needed: a decision needs
//! a few providers of hundreds.

use super::Model;
use std::{
    collections::BTreeMap,
    fmt,
    ops::{Deref, Range},
    sync::{Arc, OnceLock},
};

/// A map from the name by which a provider lists a model to the model.
#[derive(Clone, Default)]
pub struct Models {
    decoded: OnceLock<BTreeMap<String, Model>>,
    stored: Option<Stored>,
}

/// A part of a stored catalogue, which all its providers share.
#[derive(Clone)]
struct Stored {
    catalogue: Arc<Vec<u8>>,
    place: Range<usize>,
    decode: Decode,
}

/// Reads the models from their stored form.
type Decode = fn(&[u8]) -> Option<BTreeMap<String, Model>>;

impl Models {
    /// Models that are still in their stored form. Bytes that are no models give none, so the caller makes sure that
    /// the catalogue is undamaged and of the layout that is decoded here.
    pub(super) fn stored(catalogue: &Arc<Vec<u8>>, place: Range<usize>, decode: Decode) -> Self {
        Self { decoded: OnceLock::new(), stored: Some(Stored { catalogue: catalogue.clone(), place, decode }) }
    }

    pub fn edit<R>(&mut self, change: impl FnOnce(&mut BTreeMap<String, Model>) -> R) -> R {
        // Stored models are decoded first.
        let _: &BTreeMap<String, Model> = self;
        let mut models = self.decoded.take().unwrap_or_default();
        let result = change(&mut models);
        *self = models.into();
        result
    }
}

impl Deref for Models {
    type Target = BTreeMap<String, Model>;

    fn deref(&self) -> &Self::Target {
        self.decoded.get_or_init(|| {
            let Some(stored) = &self.stored else { return BTreeMap::new() };
            stored.catalogue.get(stored.place.clone()).and_then(stored.decode).unwrap_or_default()
        })
    }
}

impl FromIterator<(String, Model)> for Models {
    fn from_iter<I: IntoIterator<Item = (String, Model)>>(models: I) -> Self {
        BTreeMap::from_iter(models).into()
    }
}

impl<const COUNT: usize> From<[(String, Model); COUNT]> for Models {
    fn from(models: [(String, Model); COUNT]) -> Self {
        models.into_iter().collect()
    }
}

impl From<BTreeMap<String, Model>> for Models {
    fn from(models: BTreeMap<String, Model>) -> Self {
        Self { decoded: models.into(), stored: None }
    }
}

impl PartialEq for Models {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Models {}

impl fmt::Debug for Models {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}
