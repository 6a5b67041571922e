//! Reads typed values out of JSON that a model wrote. What does not fit becomes a fault with its place, and reading
//! goes on, so that all faults are reported at once.

use super::{Fault, Label};
use crate::values::REPLACED;
use crate::values::{clean_line, clean_text};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// More faults than this add no information.
const MOST_FAULTS: usize = 10;
/// What is repeated of a wrong value.
const SHOWN: usize = 40;

#[derive(Debug, Default)]
pub(super) struct Faults(Vec<Fault>);

impl Faults {
    pub(super) fn add(&mut self, fault: Fault) {
        if self.0.len() < MOST_FAULTS {
            self.0.push(fault);
        }
    }

    /// The value when it is whole and nothing was found wrong.
    pub(super) fn judge<T>(mut self, value: Option<T>) -> Result<T, Vec<Fault>> {
        match value {
            Some(value) if self.0.is_empty() => Ok(value),
            Some(_) => Err(self.0),
            None => {
                if self.0.is_empty() {
                    self.add(Fault::Missing { place: "the answer".to_owned() });
                }
                Err(self.0)
            }
        }
    }

    fn wrong<T>(&mut self, place: &str, expected: &str) -> Option<T> {
        self.add(Fault::WrongKind { place: place.to_owned(), expected: expected.to_owned() });
        None
    }
}

/// A JSON value and its place.
#[derive(Debug, Clone)]
pub(super) struct Reading<'a> {
    value: &'a Value,
    pub(super) place: String,
}

impl<'a> Reading<'a> {
    pub(super) fn root(value: &'a Value) -> Self {
        Self { value, place: "the answer".to_owned() }
    }

    fn object(&self, faults: &mut Faults) -> Option<&'a Map<String, Value>> {
        self.value.as_object().or_else(|| faults.wrong(&self.place, "an object"))
    }

    /// A member that may be left out; `null` is left out too.
    pub(super) fn optional(&self, name: &str) -> Option<Self> {
        let value = self.value.get(name).filter(|value| !value.is_null())?;
        let place = if self.place == "the answer" { name.to_owned() } else { format!("{}.{name}", self.place) };
        Some(Self { value, place })
    }

    pub(super) fn field(&self, name: &str, faults: &mut Faults) -> Option<Self> {
        self.object(faults)?;
        let field = self.optional(name);
        if field.is_none() {
            let place = if self.place == "the answer" { name.to_owned() } else { format!("{}.{name}", self.place) };
            faults.add(Fault::Missing { place });
        }
        field
    }

    pub(super) fn items(&self, most: usize, faults: &mut Faults) -> Option<Vec<Self>> {
        let Some(items) = self.value.as_array() else { return faults.wrong(&self.place, "a list") };
        if items.len() > most {
            faults.add(Fault::TooMany { place: self.place.clone(), most });
            return None;
        }
        let item = |(index, value)| Self { value, place: format!("{}[{index}]", self.place) };
        Some(items.iter().enumerate().map(item).collect())
    }

    /// A text with content, cleaned and cut to `most` characters.
    pub(super) fn text(&self, most: usize, faults: &mut Faults) -> Option<String> {
        let text = self.any_text(most, faults)?;
        // Replacement characters are no content.
        if text.chars().all(|c| c.is_whitespace() || c == REPLACED) {
            faults.add(Fault::Blank { place: self.place.clone() });
            return None;
        }
        Some(text)
    }

    /// A text that may be empty.
    pub(super) fn any_text(&self, most: usize, faults: &mut Faults) -> Option<String> {
        let Some(text) = self.value.as_str() else { return faults.wrong(&self.place, "a text") };
        Some(clean_text(text, most))
    }

    pub(super) fn flag(&self, faults: &mut Faults) -> Option<bool> {
        self.value.as_bool().or_else(|| faults.wrong(&self.place, "true or false"))
    }

    /// A number from 0 to `most`.
    pub(super) fn number(&self, most: u32, faults: &mut Faults) -> Option<f64> {
        let Some(number) = self.value.as_f64() else { return faults.wrong(&self.place, "a number") };
        if !(0.0..=f64::from(most)).contains(&number) {
            faults.add(Fault::OutOfRange { place: self.place.clone(), range: format!("0 to {most}") });
            return None;
        }
        Some(number)
    }

    /// A whole number from 0 to `most`.
    pub(super) fn whole(&self, most: u32, faults: &mut Faults) -> Option<u32> {
        let number = self.number(most, faults)?;
        if number.fract() != 0.0 {
            return faults.wrong(&self.place, "a whole number");
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range was checked above")]
        Some(number as u32)
    }

    /// One of a few words.
    pub(super) fn word<T: Copy>(&self, words: &[(&str, T)], faults: &mut Faults) -> Option<T> {
        let Some(text) = self.value.as_str() else { return faults.wrong(&self.place, "a text") };
        let found = words.iter().find(|(word, _)| *word == text).map(|(_, meaning)| *meaning);
        if found.is_none() {
            let allowed = words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
            let found = clean_line(text, SHOWN);
            faults.add(Fault::UnknownWord { place: self.place.clone(), found, allowed });
        }
        found
    }

    pub(super) fn label(&self, known: &[Label], faults: &mut Faults) -> Option<Label> {
        let Some(text) = self.value.as_str() else { return faults.wrong(&self.place, "a label") };
        checked(text, &self.place, known, faults)
    }

    /// Labels of which none occurs twice. A list that is longer than all labels is not read at all.
    pub(super) fn labels(&self, known: &[Label], faults: &mut Faults) -> Option<Vec<Label>> {
        let mut seen = BTreeSet::new();
        let mut labels = Vec::new();
        for item in self.items(Label::MOST, faults)? {
            let label = item.label(known, faults)?;
            if !seen.insert(label) {
                faults.add(Fault::DuplicateLabel { place: self.place.clone(), label: label.to_string() });
                return None;
            }
            labels.push(label);
        }
        Some(labels)
    }

    /// An object with one value for each label, and nothing else.
    pub(super) fn by_label(&self, known: &[Label], faults: &mut Faults) -> Option<Vec<(Label, Self)>> {
        let object = self.object(faults)?;
        if object.len() > Label::MOST {
            faults.add(Fault::TooMany { place: self.place.clone(), most: Label::MOST });
            return None;
        }
        let mut found = Vec::new();
        for (name, value) in object {
            let label = checked(name, &self.place, known, faults)?;
            found.push((label, Self { value, place: format!("{}.{label}", self.place) }));
        }
        let has = |label: &Label| found.iter().any(|(other, _)| other == label);
        if let Some(label) = known.iter().find(|label| !has(label)) {
            faults.add(Fault::MissingLabel { place: self.place.clone(), label: label.to_string() });
            return None;
        }
        Some(found)
    }
}

fn checked(text: &str, place: &str, known: &[Label], faults: &mut Faults) -> Option<Label> {
    let label = Label::parse(text).filter(|label| known.contains(label));
    if label.is_none() {
        faults.add(Fault::UnknownLabel { place: place.to_owned(), label: clean_line(text, SHOWN) });
    }
    label
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_fault_has_its_place() {
        let value = json!({"n": 11, "half": 1.5, "list": [1, 2, 3], "word": "may\u{1b}be", "labels": ["A", "A"],
            "strange": ["C"], "blank": " \n", "null": null});
        let root = Reading::root(&value);
        let mut faults = Faults::default();
        let known = [Label::at(0).unwrap(), Label::at(1).unwrap()];
        let mut field = |name: &str, read: fn(&Reading<'_>, &[Label], &mut Faults)| {
            if let Some(found) = root.field(name, &mut faults) {
                read(&found, &known, &mut faults);
            }
        };
        field("n", |found, _, faults| assert_eq!(found.number(10, faults), None));
        field("half", |found, _, faults| assert_eq!(found.whole(10, faults), None));
        field("list", |found, _, faults| assert!(found.items(2, faults).is_none()));
        field("word", |found, _, faults| assert_eq!(found.word(&[("yes", 1), ("no", 2)], faults), None));
        field("labels", |found, known, faults| assert_eq!(found.labels(known, faults), None));
        field("strange", |found, known, faults| assert_eq!(found.labels(known, faults), None));
        field("blank", |found, _, faults| assert_eq!(found.text(9, faults), None));
        field("null", |_, _, _| panic!("null is nothing"));
        let told: Vec<String> = faults.judge(Some(())).unwrap_err().iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "n is outside 0 to 10",
                "half is not a whole number",
                "list has more than 2 entries",
                "word is `may\u{fffd}be` and may be yes, no",
                "labels names `A` twice",
                "strange[0] names `C`, which is not one of the labels here",
                "blank has no text",
                "null is missing",
            ]
        );
    }

    #[test]
    fn a_value_that_is_not_an_object_is_told_and_faults_are_bounded() {
        let mut faults = Faults::default();
        assert!(Reading::root(&json!([])).field("x", &mut faults).is_none());
        assert_eq!(faults.0, [Fault::WrongKind { place: "the answer".into(), expected: "an object".into() }]);
        for _ in 0..100 {
            faults.add(Fault::Missing { place: "x".into() });
        }
        assert_eq!(faults.judge(Some(())).unwrap_err().len(), MOST_FAULTS);
    }
}
