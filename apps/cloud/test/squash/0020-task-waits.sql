-- task_wait again, step by step: the query that did all at once took longer to plan than to run, and it was planned with every call. There is
-- no reason "recovery" any more: while the cloud recovers from a restored database, open tasks end at once.
drop function task_wait(uuid);
drop function vm_task_wait(uuid);

-- The first thing that keeps an open task from going on; no row while nothing does. A task of a vApp waits for what the first of its parts waits
-- for. src/store/claimable.ts decides by the same conditions what a worker may claim: test/claimable.test.ts compares the two.
create function task_wait(the_task uuid)
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
      -- As row-level security would, which the owner of this function is not held to.
      and part.org = coalesce(nullif(current_setting('app.org', true), '')::uuid, part.org)
    order by part.rank, part.id
  loop
    select * into v from vm where vm.id = t.vm;
    reason := null;
    at := null;
    since := null;
    select earlier.id into behind from task earlier
      where earlier.vm = t.vm and earlier.place < t.place and earlier.state in ('queued', 'running')
      order by earlier.place limit 1;
    if behind is not null then
      reason := 'turn';
    elsif t.state = 'queued' and t.parent is not null then
      select earlier.id into behind from task earlier
        where earlier.parent = t.parent and earlier.rank < t.rank and earlier.state in ('queued', 'running')
        order by earlier.rank, earlier.id limit 1;
      if behind is not null then reason := 'order'; end if;
    end if;
    if reason is null and t.operation = 'clone' and t.state = 'queued' and not t.cancel then
      select earlier.id into behind from task lend join task earlier on earlier.vm = lend.vm and earlier.place < lend.place
        where lend.parent = t.parent and lend.vm = v.source and lend.operation = 'lend' and earlier.state in ('queued', 'running')
        order by earlier.place limit 1;
      if behind is not null then
        reason := 'source';
      else
        select host.* into h from vm source join host on host.id = source.host where source.id = v.source and source.fate is null;
        if found and not coalesce(h.state = 'joined' and h.quarantine is null and h.follow_until > clock_timestamp()
            and h.listed = h.session and h.session > 0, false) then
          reason := 'source-host';
          at := h.seen_at;
          since := greatest(t.created_at, h.seen_at);
        end if;
      end if;
    end if;
    if reason in ('turn', 'order', 'source') then since := t.created_at; end if;
    -- What goes back, or must, needs no host.
    if reason is null and v.host is not null and v.fate is distinct from 'LOST' and t.direction <> 'back' and not t.cancel
        and coalesce(clock_timestamp() <= t.deadline, true) and (t.operation <> 'create' or v.sent_on) then
      select * into h from host where host.id = v.host;
      if h.state <> 'joined' then
        reason := 'host-out';
      elsif h.quarantine is not null then
        reason := 'host-quarantine';
      elsif not coalesce(h.follow_until > clock_timestamp() and h.listed = h.session and h.session > 0, false) then
        reason := 'host-silent';
        at := h.seen_at;
        since := greatest(t.created_at, h.seen_at);
      elsif exists (select from debt where debt.host = v.host and debt.vm = v.id) then
        reason := 'debt';
      end if;
    end if;
    if reason is null and t.state = 'queued' then
      if v.holder is not null and v.lease_until > clock_timestamp() then
        reason := 'claim';
        at := v.lease_until;
      elsif t.worker_wait in ('host-limit', 'org-limit') then
        reason := t.worker_wait;
      elsif v.rings > 0 then
        -- The sweep has rung for it, and nobody came yet.
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
        gives_up_at := least(case when not t.committed then t.deadline end, case when t.attempts > 0 then t.step_gives_up_at end);
      end if;
      return next;
      return;
    end if;
  end loop;
end $$;

-- It reads hosts and debts, which no tenant may, and returns of them only what stands above.
grant create on schema public to skerry_system;
alter function task_wait(uuid) owner to skerry_system;
revoke create on schema public from skerry_system;
revoke execute on function task_wait(uuid) from public;
grant execute on function task_wait(uuid) to skerry_tenant, skerry_system;
