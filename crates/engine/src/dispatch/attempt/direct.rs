//! An attempt at the provider itself, without OpenCode: the same record, judgement and bill.

use super::{Attempt, Outcome, Seen, end_record, prompts::limits, record::record_begin, twice};
use crate::base::{direct_cache::DirectEndpoint, refusal::Refusal};
use serde_json::Value;
use shuntyard_agents::{
    openai::{Answered, Ask, Earlier},
    opencode::{Failure, GiveUp, RunLimits},
};
use shuntyard_core::{
    ErrorClass, ModelRef, Nano, Usage,
    routing::estimate_tokens,
    values::money::{Price, round_exact},
};
use std::time::Instant;

/// What the prompts of an attempt came to.
struct Spoken {
    answered: Answered,
    result: Result<(String, Option<Value>), Failure>,
    usage: Usage,
    /// Whether every prompt's tokens were reported.
    usage_known: bool,
    cost: Nano,
    known: bool,
    warnings: Vec<String>,
}

pub(in crate::dispatch) async fn run_direct(attempt: &Attempt<'_>, line: &DirectEndpoint) -> Result<Outcome, Refusal> {
    let began = Instant::now();
    let store = &attempt.run.context.store;
    record_begin(attempt, None).await?;
    let spoken = speak(attempt, line).await;
    let Spoken { answered, result, usage, usage_known, cost, known, mut warnings } = spoken;
    let model = attempt.model();
    let answered_by = answered.model.as_ref().map(|_| ModelRef { variant: None, ..model.clone() });
    let seen = Seen { usage, usage_known, cost, cost_known: known };
    let end = end_record(&result, answered_by.as_ref(), &seen);
    let settled = twice(|| store.finish_attempt(attempt.run.id, attempt.ordinal, &end)).await;
    warnings.extend(settled.as_ref().err().map(|error| format!("the dispatch could not be recorded: {error}")));
    if !known {
        warnings.push(if usage_known {
            format!("no price is known for {model}, so the cost is not known")
        } else {
            "the provider did not report all of its tokens, so the cost is an estimate".into()
        });
    }
    let counted = seen.counted(settled.as_ref().ok());
    Ok(Outcome {
        result,
        text: answered.text,
        answered_by,
        usage: counted.usage,
        cost: counted.cost,
        cost_known: counted.cost_known,
        session: String::new(),
        kept: false,
        settled: settled.is_ok(),
        warnings,
        duration: began.elapsed(),
        gave_up: answered.gave_up,
        tool_calls: 0,
        stopped: true,
    })
}

/// Asks until the answer fits its schema, or the tries or the time are used up.
async fn speak(attempt: &Attempt<'_>, line: &DirectEndpoint) -> Spoken {
    let run = attempt.run;
    let request = run.request;
    let model = attempt.catalogue.find(attempt.model()).ok();
    let price = model.map(|model| model.price).unwrap_or_default();
    let client = match run.context.direct.client() {
        Ok(client) => client,
        Err(why) => return unspoken(why),
    };
    let mut said: Vec<(String, String)> = Vec::new();
    let mut prompt = request.prompt.clone();
    let mut total = Total::default();
    let mut warnings = Vec::new();
    loop {
        let earlier: Vec<Earlier<'_>> = said.iter().map(|(prompt, answer)| Earlier { prompt, answer }).collect();
        let limits: RunLimits = limits(attempt);
        let answered = client
            .ask(Ask {
                provider: &line.provider,
                model: &line.model_id,
                system: request.system.as_deref(),
                earlier: &earlier,
                prompt: &prompt,
                images: &request.images,
                schema: request.schema.as_ref().map(shuntyard_core::values::schema::AnswerSchema::source),
                max_output_tokens: Some(most_output(attempt, line, &price, total.cost)),
                extra: Some(&line.body),
                limits: limits.into(),
                sink: run.sink,
                cancel: run.cancel,
            })
            .await;
        total.add(&answered, &price, request.needs().context);
        let fault = match (&request.schema, &answered.outcome) {
            (Some(schema), Ok(())) => {
                let faults = schema.faults(answered.structured.as_ref().unwrap_or(&Value::Null));
                (!faults.is_empty()).then(|| faults.join("; "))
            }
            (Some(_), Err(failure)) if failure.class == ErrorClass::StructuredOutputFailed => {
                Some(failure.message.clone())
            }
            _ => None,
        };
        let tries = said.len();
        let spent = attempt.left.is_some_and(|left| total.cost >= left);
        let result = match fault {
            None => match &answered.outcome {
                Ok(()) => Ok((answered.text.clone(), answered.structured.clone())),
                Err(failure) => Err(failure.clone()),
            },
            Some(fault) if tries >= run.context.config.dispatch.structured_retries as usize => {
                let message = format!("no answer fits the schema after {} tries: {fault}", tries + 1);
                Err(Failure::new(ErrorClass::StructuredOutputFailed, message))
            }
            Some(_) if spent => {
                let most = attempt.left.unwrap_or_default();
                Err(GiveUp::CostLimit { spent: total.cost, most }.failure())
            }
            Some(fault) => {
                warnings.push(format!("try {} did not fit the schema: {fault}", tries + 1));
                said.push((prompt, answered.text));
                prompt =
                    format!("Your last answer does not fit the required schema: {fault}\nAnswer again, corrected.");
                continue;
            }
        };
        let Total { usage, usage_known, cost, known } = total;
        return Spoken { answered, result, usage, usage_known, cost, known, warnings };
    }
}

/// The longest answer that may be asked for: no longer than what is left of the money can pay.
fn most_output(attempt: &Attempt<'_>, line: &DirectEndpoint, price: &Price, spent: Nano) -> u64 {
    let Some(left) = attempt.left.filter(|_| price.output.0 > 0) else { return line.most_output };
    let prompt = Usage { input: attempt.run.request.needs().context, ..Usage::default() };
    let rest = left.less(spent).less(round_exact(price.exact(&prompt)));
    let tokens = i128::from(rest.0) * 1_000_000 / i128::from(price.output.0);
    // One token at the least: that there is money for it was looked at before.
    u64::try_from(tokens).unwrap_or(u64::MAX).clamp(1, line.most_output.max(1))
}

/// What all prompts of an attempt used.
struct Total {
    usage: Usage,
    usage_known: bool,
    cost: Nano,
    known: bool,
}

impl Default for Total {
    fn default() -> Self {
        Self { usage: Usage::default(), usage_known: true, cost: Nano::ZERO, known: true }
    }
}

impl Total {
    /// What the provider says that it charges is the truth; otherwise the price of the model is.
    fn add(&mut self, answered: &Answered, price: &Price, prompt: u64) {
        self.usage = self.usage + answered.usage;
        let priced = !price.is_zero() || answered.usage.total() == 0;
        // An answer that had begun without reported usage was not free: its cost is booked as an estimate and marked
        // unknown.
        let guess = Usage { input: prompt, output: estimate_tokens(&answered.text), ..Usage::default() };
        let began = answered.first_token.is_some();
        let unreported = began && !answered.usage_known && answered.usage.total() == 0;
        let counted = if unreported { guess } else { answered.usage };
        self.cost = self.cost + answered.cost.unwrap_or_else(|| round_exact(price.exact(&counted)));
        self.usage_known &= answered.usage_known;
        self.known &= answered.usage_known && (answered.cost.is_some() || priced);
    }
}

/// There is not even a client.
fn unspoken(why: String) -> Spoken {
    let failure = Failure::new(ErrorClass::Network, why);
    let answered = Answered {
        outcome: Err(failure.clone()),
        text: String::new(),
        structured: None,
        form: None,
        model: None,
        usage: Usage::default(),
        usage_known: true,
        cost: None,
        retries: 0,
        first_token: None,
        gave_up: None,
    };
    let (usage, cost) = (Usage::default(), Nano::ZERO);
    Spoken { answered, result: Err(failure), usage, usage_known: true, cost, known: true, warnings: Vec::new() }
}
