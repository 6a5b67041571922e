//! The summary of a lost conversation in a worker's prompt.

/// Characters of one message or answer that are kept, and of all together.
const EACH: usize = 1500;
const WHOLE: usize = 12_000;

/// A message, and what was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    pub asked: String,
    pub answered: String,
}

/// The newest exchanges that fit, the oldest of them first, with the message that goes on from there. The exchanges
/// come with the newest first. Nothing when there are none.
#[must_use]
pub fn recap(newest_first: &[Exchange], message: &str) -> Option<String> {
    let mut told: Vec<String> = Vec::new();
    let mut room = WHOLE;
    for exchange in newest_first {
        let text = format!("User: {}\n\nYou: {}", cut(&exchange.asked), cut(&exchange.answered));
        let Some(left) = room.checked_sub(text.chars().count()) else { break };
        room = left;
        told.push(text);
    }
    if told.is_empty() {
        return None;
    }
    let left_out = newest_first.len() - told.len();
    let missing = if left_out == 0 { String::new() } else { format!(" ({left_out} earlier exchanges are left out)") };
    told.reverse();
    Some(format!(
        "The conversation that this message belongs to was lost. This is a record of it{missing}; long texts are cut.\n\n\
         <record>\n{}\n</record>\n\nThe message now is:\n\n{message}",
        told.join("\n\n")
    ))
}

fn cut(text: &str) -> String {
    let text = text.trim();
    if text.chars().count() <= EACH {
        text.to_owned()
    } else {
        format!("{}…", text.chars().take(EACH).collect::<String>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange(asked: &str, answered: &str) -> Exchange {
        Exchange { asked: asked.into(), answered: answered.into() }
    }

    #[test]
    fn nothing_is_told_of_nothing() {
        assert_eq!(recap(&[], "go on"), None);
    }

    #[test]
    fn the_oldest_comes_first_and_the_message_last() {
        let told = recap(&[exchange("second", "two"), exchange("first", "one")], "third").unwrap();
        let places: Vec<usize> =
            ["first", "one", "second", "two", "third"].map(|word| told.rfind(word).unwrap()).into();
        assert!(places.is_sorted(), "{told}");
        assert!(told.ends_with("third") && !told.contains("left out"), "{told}");
    }

    #[test]
    fn what_does_not_fit_is_cut_the_oldest_first() {
        let long = "x".repeat(EACH * 2);
        let many: Vec<Exchange> = (0..20).map(|number| exchange(&format!("{number}-th {long}"), &long)).collect();
        let told = recap(&many, "go on").unwrap();
        assert!(told.chars().count() < WHOLE + 500, "{}", told.chars().count());
        assert!(told.contains("0-th") && !told.contains("19-th") && told.contains("earlier exchanges are left out"));
    }
}
