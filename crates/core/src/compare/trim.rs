//! A budget of characters shared fairly: short texts stay whole, and long ones are cut to the same length.

/// How many characters each text may keep, so that together they keep at most `budget`.
///
/// What a short text leaves over goes to the long ones, and no text is cut below the length that another one keeps
/// by more than one character.
#[must_use]
pub fn fair_shares(lengths: &[usize], budget: usize) -> Vec<usize> {
    let mut by_length: Vec<usize> = (0..lengths.len()).collect();
    by_length.sort_by_key(|index| lengths[*index]);
    let mut shares = vec![0; lengths.len()];
    let mut left = budget;
    for (done, index) in by_length.iter().enumerate() {
        let share = lengths[*index].min(left / (lengths.len() - done));
        shares[*index] = share;
        left -= share;
    }
    shares
}

/// The first `most` characters, and a note about the rest when that is not all.
pub(super) fn trimmed(text: &str, most: usize) -> (String, Option<String>) {
    let length = text.chars().count();
    if length <= most {
        return (text.to_owned(), None);
    }
    let note = format!("trimmed: the first {most} of {length} characters");
    (text.chars().take(most).collect(), Some(note))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::{collection::vec, prelude::*};

    #[test]
    fn short_texts_stay_whole() {
        assert_eq!(fair_shares(&[10, 1000, 1000], 210), [10, 100, 100]);
        assert_eq!(fair_shares(&[5, 5], 100), [5, 5]);
        assert_eq!(fair_shares(&[5, 5], 0), [0, 0]);
        assert_eq!(fair_shares(&[], 9), Vec::<usize>::new());
        assert_eq!(trimmed("äöü", 3), ("äöü".to_owned(), None));
        let (text, note) = trimmed("äöü", 2);
        assert_eq!((text.as_str(), note.as_deref()), ("äö", Some("trimmed: the first 2 of 3 characters")));
    }

    proptest! {
        #[test]
        fn nobody_is_cut_in_favour_of_another(lengths in vec(0usize..3000, 0..10), budget in 0usize..9000) {
            let shares = fair_shares(&lengths, budget);
            let total: usize = shares.iter().sum();
            prop_assert!(total <= budget);
            prop_assert!(total == budget || shares == lengths, "nothing is given away");
            for (share, length) in shares.iter().zip(&lengths) {
                prop_assert!(share <= length);
                prop_assert!(share == length || shares.iter().all(|other| *other <= share + 1));
            }
        }
    }
}
