//! What a judge is asked: the question, the answers without their authors, and the form of the verdict.

use super::verdict::schema;
use crate::{
    compare::{
        Label, Mask, Part, Pass, Sheet, fence,
        trim::{fair_shares, trimmed},
    },
    values::clean,
};
use serde_json::Value;

#[derive(Debug, Clone, Copy)]
pub struct JudgeTask<'a> {
    pub question: &'a str,
    /// What a good answer is, in the user's words; otherwise being right, then complete, then clear.
    pub criteria: Option<&'a str>,
    /// By target.
    pub answers: &'a [String],
    pub mask: &'a Mask,
    /// For all answers together.
    pub characters: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub struct JudgePrompt {
    pub text: String,
    pub schema: Value,
    /// How many names were taken out.
    pub masked: usize,
    /// Whose answers are not shown whole.
    pub trimmed: Vec<Label>,
}

const CRITERIA: &str = "Being right counts most, then answering all that was asked, then being clear.";

/// The prompt of one pass. Both passes may be given one seed; their boundaries differ all the same.
#[must_use]
pub fn prompt(task: &JudgeTask<'_>, sheet: &Sheet, seed: u64) -> JudgePrompt {
    let mut masked = 0;
    // Cleaned before it is masked: a name with an invisible character in it would be a name again afterwards.
    let mut shown = |target: usize| {
        let answer = task.mask.apply(&clean(task.answers.get(target).map_or("", String::as_str)));
        masked += answer.replaced;
        answer.text
    };
    let texts: Vec<String> = sheet.places().map(|(_, target)| shown(target)).collect();
    let lengths: Vec<usize> = texts.iter().map(|text| text.chars().count()).collect();
    let mut parts = vec![Part::new("question", task.question)];
    let mut cut = Vec::new();
    for ((label, _), (text, share)) in sheet.places().zip(texts.iter().zip(fair_shares(&lengths, task.characters))) {
        let (text, note) = trimmed(text, share);
        cut.extend(note.as_ref().map(|_| label));
        parts.push(Part { name: format!("answer {label}"), note, text });
    }
    let call = match sheet.pass {
        Pass::Forward => seed,
        Pass::Reversed => !seed,
    };
    let fenced = fence(call, &parts);
    let labels = sheet.labels().iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let criteria = clean(task.criteria.unwrap_or(CRITERIA));
    let text = format!(
        "You compare {count} answers to one question. Who wrote them is not told, and it must not matter; names of \
         models and makers were replaced by `[name]` where they could be found.\n\n\
         {rule}\n\n\
         {criteria} Length is no merit in itself, and neither is a confident tone. The order of the answers is \
         accidental. Where an answer was trimmed, do not hold the missing end against it.\n\n\
         {blocks}\n\n\
         Now give your verdict on the answers {labels} as one JSON object: `ranking` has every label once, the best \
         first; `best` is the first of it; `scores` has a number from 0 to 10 for every label, none higher than that \
         of the best; `reason` says in a few sentences what decided it.",
        count = sheet.len(),
        rule = fenced.rule(),
        blocks = fenced.blocks.join("\n\n"),
    );
    JudgePrompt { text, schema: schema(sheet), masked, trimmed: cut }
}
