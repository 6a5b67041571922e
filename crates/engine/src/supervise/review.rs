//! Pull requests that wait for people: looked at now and then, never taken for merged.

use super::change::ChangeError;
use crate::Context;
use switchyard_store::TaskRecord;

/// Looks at an open pull request, and writes down what became of it.
pub(crate) async fn look(context: &Context, record: &TaskRecord) -> Result<(), ChangeError> {
    super::worker::look_at_pull_request(context, record).await
}
