//! What every store must do, whatever database is behind it.
//!
//! A database joins with one file beside this directory: a type that implements [`Backend`], and
//! `contract::suite!` with an expression that makes one.

pub mod availability;
pub mod batch;
pub mod beginning;
pub mod budget;
pub mod charged;
pub mod claim;
pub mod concurrency;
pub mod contest;
pub mod dispatch;
pub mod effect;
pub mod event;
pub mod job;
pub mod job_cut;
pub mod job_line;
pub mod job_progress;
pub mod job_sample;
pub mod judgement;
pub mod ledger;
pub mod outcome;
pub mod ready;
pub mod reservation;
pub mod run;
pub mod sample;
pub mod server;
pub mod session;
pub mod similar;
pub mod tally;
pub mod task;
pub mod task_change;
pub mod task_sample;
pub mod window;
pub mod worker;

use async_trait::async_trait;
use shuntyard_store::Store;

/// One database of a test's own.
#[async_trait]
pub trait Backend: Send + Sync {
    /// Makes the database and opens it. Called once, first.
    async fn fresh(&self) -> Box<dyn Store>;

    /// Opens the same database again, with connections of its own, as another process would.
    async fn reopen(&self) -> Box<dyn Store>;

    /// Removes all events past the store, as a clean-up would.
    async fn remove_events(&self);
}

macro_rules! suite {
    ($backend:expr) => {
        $crate::contract::suite!(@tests $backend,
            dispatch: a_dispatch_is_read_back_whole,
            dispatch: the_same_dispatch_or_attempt_again_is_a_conflict,
            dispatch: what_never_began_is_not_found,
            dispatch: an_end_is_never_running,
            dispatch: the_first_status_stands_and_the_higher_amounts_count,
            dispatch: a_dispatch_ends_once,
            dispatch: recent_ones_come_newest_first_and_unfinished_ones_oldest_first,
            beginning: a_dispatch_begins_with_its_first_attempt,
            beginning: a_refused_first_attempt_leaves_its_dispatch_alone,
            beginning: a_beginning_that_fails_writes_neither,
            beginning: who_goes_away_leaves_nothing_half_done,
            session: a_session_keeps_its_home_and_model,
            session: only_kept_sessions_become_stale,
            session: a_kept_session_is_claimed_once,
            session: attempts_of_unknown_cost_are_found_by_their_session,
            session: doomed_sessions_are_found_by_their_home,
            server: a_server_is_replaced_in_place_and_keeps_its_leases,
            server: a_server_moves_through_its_states,
            server: only_a_ready_server_is_lent,
            server: a_removed_server_takes_its_leases_along,
            availability: the_newest_look_at_a_provider_is_kept,
            availability: a_change_of_health_is_told_once,
            availability: health_is_forgotten_for_one_or_for_all,
            availability: the_cooldown_that_ends_last_stands,
            availability: a_cooldown_that_is_over_is_replaced,
            availability: another_store_sees_a_cooldown_until_it_is_over,
            availability: a_success_ends_cooldowns_and_tells,
            availability: what_ends_before_it_begins_is_refused,
            availability: many_who_put_a_cooldown_leave_the_longest,
            ledger: the_sums_follow_every_settle_and_raise,
            ledger: a_window_holds_its_first_edge_and_not_its_last,
            ledger: spending_is_grouped_in_order,
            ledger: what_is_entered_by_hand_counts_and_is_told,
            ledger: a_sum_stays_at_the_greatest_amount,
            charged: only_what_used_anything_tells_what_a_model_costs,
            charged: what_is_charged_has_a_first_moment_and_a_window,
            window: any_window_is_the_sum_of_what_was_spent_in_it,
            reservation: a_ceiling_is_reached_but_not_passed,
            reservation: a_ceiling_counts_its_own_key_and_measure,
            reservation: the_first_ceiling_that_would_be_passed_refuses,
            reservation: a_refusal_writes_nothing,
            reservation: the_same_ordinal_is_a_conflict_even_without_room,
            reservation: an_end_releases_the_reservation,
            reservation: an_unknown_end_counts_as_its_reservation_until_it_is_corrected,
            reservation: crashes_use_up_a_limit,
            reservation: a_dropped_reservation_makes_room,
            reservation: of_many_at_once_only_those_with_room_start,
            budget: a_rule_is_replaced_and_removed,
            budget: there_is_one_overall_rule,
            budget: periods_of_the_same_kind_do_not_overlap,
            budget: a_removed_period_makes_room_and_its_id_is_not_given_again,
            budget: an_alert_is_raised_once_a_day,
            budget: the_notice_of_an_alert_is_for_others_only_when_its_process_has_died,
            outcome: an_outcome_is_read_back_whole,
            outcome: outcomes_are_kept_all_or_none,
            outcome: the_same_attempt_counts_once,
            outcome: a_dispatch_end_keeps_its_outcomes_once,
            outcome: a_dispatch_end_that_fails_keeps_no_outcome,
            outcome: what_is_recorded_is_told_once,
            outcome: outcomes_are_filtered_and_sorted,
            outcome: a_reader_goes_on_where_it_was,
            judgement: a_judgement_moves_the_counts_both_ways,
            judgement: the_last_attempt_is_judged_unless_one_is_named,
            judgement: a_judgement_is_told_when_it_changes_something,
            judgement: a_refused_judgement_changes_nothing,
            tally: the_counts_equal_a_recount,
            tally: repositories_are_counted_apart_and_together,
            tally: the_week_of_a_moment_is_counted_whole,
            tally: what_says_nothing_about_the_model_counts_apart,
            tally: counts_stay_at_the_greatest_number,
            tally: moves_between_tiers_are_counted_in_a_window,
            tally: the_past_is_counted_by_what_was_asked_for,
            similar: words_are_found_by_their_stems,
            similar: the_better_match_comes_first,
            similar: only_a_text_can_be_similar,
            similar: a_hostile_word_is_only_a_word,
            task: a_task_is_read_back_whole,
            task: the_nameless_get_the_next_free_number,
            task: tasks_are_added_all_or_none,
            task: every_task_is_told,
            task: the_audit_of_a_task_is_its_own,
            task: tasks_are_filtered_and_read_on,
            task: a_task_is_due_when_its_moment_has_come,
            task: a_mark_is_moved,
            task_change: a_change_is_written_with_all_that_follows,
            task_change: every_effect_is_read_back_whole,
            task_change: who_has_not_seen_the_newest_changes_nothing,
            task_change: a_change_that_fails_halfway_leaves_nothing,
            task_change: a_change_that_is_cut_off_is_made_whole_or_not_at_all,
            task_change: of_many_changes_at_once_one_is_made,
            claim: a_slot_is_counted_by_what_it_is_about,
            claim: a_run_without_a_provider_or_a_model_takes_no_such_slot,
            claim: a_claim_that_is_refused_leaves_nothing,
            claim: the_money_of_a_claim_is_taken_over_by_its_attempt,
            claim: entries_of_a_contest_stay_below_its_limit_together,
            claim: an_end_frees_the_money_of_an_attempt_that_never_began,
            claim: of_many_claims_at_once_no_more_than_the_limit_are_made,
            claim: what_is_paused_or_blocked_by_then_is_not_claimed,
            run: a_run_is_read_back_whole,
            run: of_two_costs_the_higher_counts,
            run: a_change_notes_something_about_the_run_of_its_epoch,
            run: a_renewal_lengthens_the_lease_and_takes_nothing_back,
            run: nobody_writes_under_an_epoch_that_is_over,
            run: a_run_that_follows_keeps_slot_and_place,
            run: runs_are_listed_by_their_beginning_and_by_their_end,
            ready: the_first_of_every_line_are_ready,
            ready: a_candidate_says_what_slots_it_needs,
            ready: only_what_is_queued_is_ready,
            ready: blockers_are_released_by_what_is_done_or_cancelled,
            ready: what_failed_releases_nobody,
            ready: a_paused_batch_rests_until_it_is_resumed,
            effect: an_effect_is_taken_once_and_again_after_the_lease,
            effect: what_is_finished_stays_finished,
            effect: what_could_not_be_done_is_tried_later_or_never,
            effect: of_many_takers_each_effect_has_one,
            contest: the_first_verdict_stands_and_is_told_once,
            contest: contests_of_one_repository_come_first_and_the_newest_before_others,
            batch: a_batch_is_created_once,
            batch: a_pause_is_told_once,
            batch: queued_tasks_join_a_batch,
            batch: what_is_not_queued_joins_nothing,
            job: a_job_is_read_back_whole,
            job: every_change_of_a_job_is_told_without_its_texts,
            job: nobody_writes_under_a_claim_that_is_over,
            job: an_end_is_an_end,
            job: a_job_is_cancelled_in_every_state,
            job: what_was_to_be_cancelled_is_never_begun_again,
            job: what_is_forgotten_keeps_how_it_ended,
            job: jobs_are_filtered_the_newest_first,
            job: open_jobs_are_counted_by_state,
            job_line: a_worker_does_one_job_at_a_time_in_order,
            job_line: a_job_knows_how_many_stand_before_it,
            job_line: what_has_to_be_done_again_is_next_in_its_line,
            job_line: what_is_continued_stands_at_the_end,
            job_line: no_more_jobs_are_claimed_than_may_be_at_work,
            job_line: of_many_claimers_each_job_has_one_and_the_limit_holds,
            job_line: only_a_loss_counts_as_a_death,
            job_progress: progress_is_told_without_what_was_heard,
            job_progress: progress_is_removed_when_a_job_is_over,
            job_progress: progress_is_removed_when_a_worker_stops,
            job_cut: a_call_about_jobs_that_is_cut_off_is_made_whole_or_not_at_all,
            worker: a_worker_is_read_back_whole,
            worker: a_worker_is_changed_by_who_has_seen_the_newest,
            worker: of_many_changes_of_a_worker_one_is_made,
            worker: a_worker_that_stops_leaves_nobody_in_its_line,
            worker: nothing_is_done_again_by_a_stopped_worker,
            worker: a_stopped_worker_makes_room_for_another,
            worker: stopped_workers_are_forgotten_after_a_while,
            event: changes_tell_their_story_once,
            event: events_come_in_order_and_in_pages,
            event: the_newest_event_is_known_even_when_it_is_gone,
            event: a_refused_change_leaves_no_event,
            event: the_data_version_shows_anothers_write,
            concurrency: writers_in_many_stores_lose_nothing,
            concurrency: one_of_many_wins_the_same_row,
        );
    };
    (@tests $backend:expr, $($module:ident: $name:ident),+ $(,)?) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                $crate::contract::$module::$name(&$backend).await;
            }
        )+
    };
}
pub(crate) use suite;
