-- One operation over the VMs of a query: the parent belongs to the organisation, so it has neither a vApp nor a VM.
alter table task alter column vapp drop not null;
alter table task add constraint task_vm_has_vapp check (vm is null or vapp is not null);
-- The number of children of such a parent; null for all other tasks.
alter table task add column children integer check (children is null or (vm is null and vapp is null and parent is null));
-- A child of such a parent: lists of tasks leave it out.
alter table task add column in_bulk boolean not null default false;
-- For retention.
create index task_bulk on task (id) where children is not null;
-- The open children of a parent: the end of a child counts them, which must not read the thousands that have ended.
create index task_children_open on task (parent, rank, id) where parent is not null and state in ('queued', 'running');

-- As before, unless the statement gives the name: one that inserts thousands of tasks knows it.
create or replace function copy_to_task() returns trigger language plpgsql as $$
begin
  if new.object_name is not null then return new; end if;
  new.object_name := case when new.vm is null
    then (select vapp.name from vapp where vapp.org = new.org and vapp.id = new.vapp)
    else (select vm.name from vm where vm.org = new.org and vm.id = new.vm) end;
  new.object_name := coalesce(new.object_name, '');
  return new;
end $$;

-- As before, but a parent waits for the first waiting child among its first 64 open ones: it may have thousands.
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
    limit 64
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
