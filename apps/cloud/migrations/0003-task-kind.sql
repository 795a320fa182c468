-- What a task does to the life of its VM. Rules about creations and deletions depend on this, not on the names of operations.
alter table task add column kind text not null default 'change' check (kind in ('change', 'create', 'copy', 'hold', 'delete'));
update task set kind = case operation when 'clone' then 'copy' else operation end where operation in ('create', 'clone', 'hold', 'delete');

drop trigger forget_guest_seed on task;
create trigger forget_guest_seed after update of state on task for each row
  when (new.kind = 'create' and new.state in ('success', 'error', 'canceled'))
  execute function forget_guest_seed();

-- As before, by kind instead of operation.
create or replace function task_wait(the_task uuid)
returns table (reason text, behind uuid, at timestamptz, since timestamptz, attempts integer, failure text, failed_at timestamptz, gives_up_at timestamptz)
language plpgsql stable security definer set search_path = public, pg_temp set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  t task;
  v vm;
  h host;
begin
  for t in
    select * from (
      select task.* from task where task.id = the_task and task.vm is not null
      union all
      select task.* from task where task.parent = the_task
    ) part
    where part.state in ('queued', 'running')
      -- As row-level security would, which does not apply to the owner of this function.
      and part.org = coalesce(nullif(current_setting('app.org', true), '')::uuid, part.org)
    order by part.rank, part.id
  loop
    select * into v from vm where vm.id = t.vm;
    reason := null;
    at := null;
    since := null;
    select earlier.id into behind from task earlier
      where earlier.vm = t.vm and earlier.position < t.position and earlier.state in ('queued', 'running')
      order by earlier.position limit 1;
    if behind is not null then
      reason := 'turn';
    elsif t.state = 'queued' and t.parent is not null then
      select earlier.id into behind from task earlier
        where earlier.parent = t.parent and earlier.rank < t.rank and earlier.state in ('queued', 'running')
        order by earlier.rank, earlier.id limit 1;
      if behind is not null then reason := 'order'; end if;
    end if;
    if reason is null and t.kind = 'copy' and t.state = 'queued' and not t.cancel_requested then
      select earlier.id into behind from task hold join task earlier on earlier.vm = hold.vm and earlier.position < hold.position
        where hold.parent = t.parent and hold.vm = v.source and hold.kind = 'hold' and earlier.state in ('queued', 'running')
        order by earlier.position limit 1;
      if behind is not null then
        reason := 'source';
      else
        select host.* into h from vm source join host on host.id = source.host where source.id = v.source and source.lost_reason is null;
        if found and not coalesce(h.state = 'joined' and h.quarantine is null and h.follow_until > clock_timestamp()
            and h.list_session = h.session and h.session > 0, false) then
          reason := 'source-host';
          at := h.seen_at;
          since := greatest(t.created_at, h.seen_at);
        end if;
      end if;
    end if;
    if reason in ('turn', 'order', 'source') then since := t.created_at; end if;
    -- A task that is rolled back, or must be, needs no host.
    if reason is null and v.host is not null and v.lost_reason is distinct from 'LOST' and t.direction <> 'back' and not t.cancel_requested
        and coalesce(clock_timestamp() <= t.deadline, true) and (t.kind <> 'create' or v.ever_started) then
      select * into h from host where host.id = v.host;
      if h.state <> 'joined' then
        reason := 'host-out';
      elsif h.quarantine is not null then
        reason := 'host-quarantine';
      elsif not coalesce(h.follow_until > clock_timestamp() and h.list_session = h.session and h.session > 0, false) then
        reason := 'host-silent';
        at := h.seen_at;
        since := greatest(t.created_at, h.seen_at);
      elsif exists (select from pending_undo where pending_undo.host = v.host and pending_undo.vm = v.id) then
        reason := 'pending-undo';
      end if;
    end if;
    if reason is null and t.state = 'queued' then
      if v.holder is not null and v.lease_until > clock_timestamp() then
        reason := 'claim';
        at := v.lease_until;
      elsif t.worker_wait in ('host-limit', 'org-limit') then
        reason := t.worker_wait;
      elsif v.wake_attempts > 0 then
        -- The sweep has woken its queue, and no worker has claimed it yet.
        reason := 'worker';
      end if;
    elsif reason is null and coalesce(v.lease_until < clock_timestamp(), true) then
      reason := 'worker';
    elsif reason is null and t.attempts > 0 then
      reason := t.worker_wait;
      since := t.failing_since;
    end if;
    if reason is not null then
      if reason = t.wait_reason then since := t.waiting_since; end if;
      attempts := t.attempts;
      failure := t.last_failure;
      failed_at := t.last_failure_at;
      gives_up_at := null;
      if t.state = 'running' and t.direction = 'forward' then
        gives_up_at := least(case when not t.past_no_return then t.deadline end, case when t.attempts > 0 then t.step_gives_up_at end);
      end if;
      return next;
      return;
    end if;
  end loop;
end $$;
