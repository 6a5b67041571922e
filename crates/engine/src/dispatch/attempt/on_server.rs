//! An attempt on OpenCode: a session is opened, prompted, paid and closed, in this order.

use super::{
    Outcome, Seen, ServerAttempt,
    bill::read_bill,
    end_record,
    prompts::{Ran, run_prompts},
    session::{close_session, open_session},
    twice,
};
use crate::base::refusal::Refusal;
use shuntyard_agents::opencode::{Failure, StopOutcome};
use shuntyard_core::{ErrorClass, ModelRef, values::Mode};
use shuntyard_host::clock::now_micros;
use std::time::Instant;

pub(in crate::dispatch) async fn run_on_server(seat: &ServerAttempt<'_>) -> Result<Outcome, Refusal> {
    let began = Instant::now();
    let began_millis = now_micros() / 1000;
    let store = &seat.attempt.run.context.store;
    let model = seat.attempt.model();
    let (session, before) = match open_session(seat).await {
        Ok(opened) => opened,
        Err(error) => {
            let failure = Failure::new(ErrorClass::OpencodeUnhealthy, error.to_string());
            let end = end_record(&Err(failure), None, &Seen::NOTHING);
            // It may not even have been recorded; the error that stopped it is the one to report.
            drop(twice(|| store.finish_attempt(seat.attempt.run.id, seat.attempt.ordinal, &end)).await);
            return Err(error);
        }
    };
    tracing::debug!(session, "the session is open");
    let ran = run_prompts(seat, &session).await;
    tracing::debug!(session, "the run has ended and was read back");
    let bill = read_bill(seat, &session, &before, &ran, began_millis).await;
    let end = end_record(&ran.result, ran.report.verdict.answered_by.as_ref(), &bill.seen);
    // Settled before the session is closed: after a crash in between, its cost could be read nowhere. From here on the
    // answer is paid for: what cannot be recorded becomes a warning beside it and never replaces it.
    let settled = twice(|| store.finish_attempt(seat.attempt.run.id, seat.attempt.ordinal, &end)).await;
    tracing::debug!(session, "the attempt is settled");
    let closed = match &settled {
        Ok(_) => close_session(seat, &session, &ran).await.map_err(|refusal| refusal.to_string()),
        // Its cost is still to be read, so it stays; recovery settles it when this process is gone.
        Err(error) => Err(error.to_string()),
    };
    tracing::debug!(session, ?closed, "the session is closed");
    let Ran { report, result, mut warnings, tool_calls, .. } = ran;
    let kept = closed.as_ref().copied().unwrap_or(true);
    warnings.extend(closed.err().map(|error| format!("the dispatch could not be recorded: {error}")));
    warnings.extend(bill.warning);
    warnings.extend(other_model(model, report.verdict.answered_by.as_ref()));
    if seat.attempt.run.request.mode == Mode::Agent && result.is_ok() && tool_calls == 0 {
        warnings.push("the agent only wrote text: it used no tool and changed nothing".into());
    }
    let counted = bill.seen.counted(settled.as_ref().ok());
    Ok(Outcome {
        result,
        text: report.verdict.text,
        answered_by: report.verdict.answered_by,
        usage: counted.usage,
        cost: counted.cost,
        cost_known: counted.cost_known,
        session,
        kept,
        settled: settled.is_ok(),
        warnings,
        duration: began.elapsed(),
        gave_up: report.gave_up,
        tool_calls,
        stopped: !matches!(report.stop, Some(StopOutcome::StillRunning | StopOutcome::Unreachable)),
    })
}

fn other_model(asked: &ModelRef, answered: Option<&ModelRef>) -> Option<String> {
    let answered = answered?;
    (answered.base() != asked.base()).then(|| format!("{} was asked, but {} answered", asked.base(), answered.base()))
}
