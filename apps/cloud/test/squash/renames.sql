-- From the names of the migrations before 0.1.0 to those of migrations/0001-cloud.sql. Expressions of columns, indexes,
-- constraints, policies and triggers follow by themselves; texts of functions are compared with the list in squash.test.ts.
alter sequence number_counter rename to fence_counter;
alter table number_era rename to fence_era;
alter table fence_era rename constraint number_era_pkey to fence_era_pkey;
alter table fence_era rename constraint number_era_single_check to fence_era_single_check;
alter table fence_era rename constraint number_era_raised_check to fence_era_raised_check;
alter function next_number() rename to next_fence;
alter function highest_number() rename to highest_fence;

alter table vm rename number to fence;
alter table vm rename places to queue_length;
alter table vm rename leads to queue_target;
alter table vm rename desired to projected_status;
alter table vm rename rings to wake_attempts;
alter table vm rename rung_at to woken_at;
alter table vm rename sent_on to ever_started;
alter table vm rename unseen to host_silent;
alter table vm rename fate to lost_reason;
alter table vm rename shown to displayed_status;
alter table vm rename wanted to desired_power;
alter table vm rename unsure to desired_power_unknown;
alter table vm rename constraint vm_fate_check to vm_lost_reason_check;
alter table vm rename constraint vm_wanted_check to vm_desired_power_check;
alter table vm_tally rename shown to displayed_status;
alter table vm_tally_delta rename shown to displayed_status;
alter table vm_tally_cloud rename shown to displayed_status;

alter table task rename place to position;
alter table task rename leads to target_status;
alter table task rename found to status_before;
alter table task rename cancel to cancel_requested;
alter table task rename committed to past_no_return;
alter table task rename strict to stop_on_failure;
alter table task rename constraint task_org_vm_place_key to task_org_vm_position_key;

alter table host rename introduced to first_list_read;
alter table host rename listed to list_session;
alter table host rename read_in to recovery_read;
alter table host rename waived_in to recovery_waived;
alter table host_record rename deed to spec;

alter table debt rename to pending_undo;
alter table pending_undo rename constraint debt_pkey to pending_undo_pkey;
alter table pending_undo rename constraint debt_host_fkey to pending_undo_host_fkey;
alter table stray rename to orphan;
alter table orphan rename constraint stray_pkey to orphan_pkey;
alter table orphan rename constraint stray_host_fkey to orphan_host_fkey;
alter table lease_rule rename to lease_policy;
alter table lease_policy rename constraint lease_rule_pkey to lease_policy_pkey;
alter table lease_policy rename constraint lease_rule_org_fkey to lease_policy_org_fkey;
alter policy lease_rule_own on lease_policy rename to lease_policy_own;
alter policy lease_rule_all on lease_policy rename to lease_policy_all;

alter function vapp_shows() rename to copy_to_vapp;
alter function vm_shows() rename to copy_to_vm;
alter function task_shows() rename to copy_to_task;
alter trigger vapp_shows on vapp rename to copy_to_vapp;
alter trigger vm_shows on vm rename to copy_to_vm;
alter trigger task_shows on task rename to copy_to_task;
alter function tell_console(text, console, jsonb) rename to emit_console_event;
alter function tell_closed(console, text) rename to emit_console_closed;

-- The events of before 0.1.0 were one partition of their own; a new database has none.
alter table event detach partition event_before;
drop table event_before;
drop table event_part cascade;
do $$
declare part text;
begin
  for part in select inhrelid::regclass from pg_inherits where inhparent = 'event'::regclass and inhrelid <> 'event_rest'::regclass loop
    execute format('drop table %s', part);
  end loop;
end $$;
create table event_part (
  name text primary key,
  starts timestamptz not null,
  ends timestamptz not null
);
grant select on event_part to skerry_system;
select keep_events(interval '1000 years');
alter function wall_event_part(text) rename to protect_event_part;
alter table event rename what to details;
