-- Why a task waits. What the workers know is kept in the row; what the tables show is read when it is asked for, so it is never out of date.
alter table task
  -- What its worker last ran into: room, retry, host-limit or org-limit.
  add column worker_wait text,
  -- Attempts of the current step that failed, since when, and until when it is retried.
  add column attempts integer not null default 0,
  add column failing_since timestamptz,
  add column step_gives_up_at timestamptz,
  add column last_failure text,
  add column last_failure_at timestamptz,
  -- The reason that the events told last, and since when it applies.
  add column wait_reason text,
  add column waiting_since timestamptz;

-- The first thing that keeps an open task of a VM from going on; no row while nothing does. src/store/claimable.ts decides by the same
-- conditions what a worker may claim: test/claimable.test.ts compares the two.
create function vm_task_wait(the_task uuid)
returns table (reason text, behind uuid, at timestamptz, since timestamptz, attempts integer, failure text, failed_at timestamptz, gives_up_at timestamptz)
language sql stable as $$
  select found.reason,
    case found.reason when 'turn' then ahead.id when 'order' then part.id when 'source' then lender.id end,
    case found.reason when 'claim' then vm.lease_until when 'source-host' then source.seen_at when 'host-silent' then host.seen_at end,
    case
      when found.reason = task.wait_reason then task.waiting_since
      when found.reason in ('turn', 'order', 'source') then task.created_at
      when found.reason = 'recovery' then greatest(task.created_at, cloud.recovering_since)
      when found.reason = 'host-silent' then greatest(task.created_at, host.seen_at)
      when found.reason = 'source-host' then greatest(task.created_at, source.seen_at)
      when found.reason in ('room', 'retry') then task.failing_since
    end,
    task.attempts, task.last_failure, task.last_failure_at,
    case when task.state = 'running' and task.direction = 'forward' then
      least(case when not task.committed then task.deadline end, case when task.attempts > 0 then task.step_gives_up_at end) end
  from task
  join vm on vm.id = task.vm
  cross join cloud
  left join lateral (select host.seen_at, host.state, host.quarantine, coalesce(host.state = 'joined' and host.quarantine is null
      and host.follow_until > clock_timestamp() and host.listed = host.session and host.session > 0, false) as open
    from host where host.id = vm.host and vm.fate is distinct from 'LOST' and task.direction <> 'back' and not task.cancel
      and coalesce(clock_timestamp() <= task.deadline, true) and (task.operation <> 'create' or vm.sent_on)) host on true
  left join lateral (select host.seen_at, true as away from vm copied join host on host.id = copied.host
    where task.operation = 'clone' and task.state = 'queued' and not task.cancel and copied.id = vm.source and copied.fate is null
      and not coalesce(host.state = 'joined' and host.quarantine is null
        and host.follow_until > clock_timestamp() and host.listed = host.session and host.session > 0, false)) source on true
  left join lateral (select earlier.id from task earlier
    where earlier.vm = task.vm and earlier.place < task.place and earlier.state in ('queued', 'running')
    order by earlier.place limit 1) ahead on true
  left join lateral (select earlier.id from task earlier
    where task.state = 'queued' and earlier.parent = task.parent and earlier.rank < task.rank and earlier.state in ('queued', 'running')
    order by earlier.rank, earlier.id limit 1) part on true
  left join lateral (select earlier.id from task lend join task earlier on earlier.vm = lend.vm and earlier.place < lend.place
    where task.operation = 'clone' and task.state = 'queued' and not task.cancel and lend.parent = task.parent
      and lend.vm = vm.source and lend.operation = 'lend' and earlier.state in ('queued', 'running')
    order by earlier.place limit 1) lender on true
  cross join lateral (select case
    when cloud.recovering and not (task.state = 'running' and coalesce(vm.lease_until > clock_timestamp(), false)) then 'recovery'
    when ahead.id is not null then 'turn'
    when part.id is not null then 'order'
    when lender.id is not null then 'source'
    when source.away then 'source-host'
    when host.state <> 'joined' then 'host-out'
    when host.quarantine is not null then 'host-quarantine'
    when not host.open then 'host-silent'
    when host.open and exists (select from debt where debt.host = vm.host and debt.vm = vm.id) then 'debt'
    when task.state = 'queued' and vm.holder is not null and vm.lease_until > clock_timestamp() then 'claim'
    when task.state = 'queued' and task.worker_wait in ('host-limit', 'org-limit') then task.worker_wait
    -- The sweep has rung for it, and nobody came yet.
    when task.state = 'queued' and vm.rings > 0 then 'worker'
    when task.state = 'running' and coalesce(vm.lease_until < clock_timestamp(), true) then 'worker'
    when task.state = 'running' and task.attempts > 0 then task.worker_wait
  end as reason) found
  where task.id = the_task and task.state in ('queued', 'running') and found.reason is not null
$$;

-- The same for every task: one of a vApp waits for what the first of its parts waits for.
create function task_wait(the_task uuid)
returns table (reason text, behind uuid, at timestamptz, since timestamptz, attempts integer, failure text, failed_at timestamptz, gives_up_at timestamptz)
language sql stable security definer set search_path = public, pg_temp as $$
  select wait.* from task
  cross join lateral (
    select task.id as part, 0 as rank where task.vm is not null
    union all
    select child.id, child.rank from task child
    where task.vm is null and child.parent = task.id and child.state in ('queued', 'running')
  ) parts
  cross join lateral vm_task_wait(parts.part) wait
  where task.id = the_task
    -- As row-level security would, which its owner is not held to.
    and task.org = coalesce(nullif(current_setting('app.org', true), '')::uuid, task.org)
  order by parts.rank, parts.part limit 1
$$;

-- It reads hosts and debts, which no tenant may, and tells of them only what stands above.
grant create on schema public to skerry_system;
alter function task_wait(uuid) owner to skerry_system;
revoke create on schema public from skerry_system;
revoke execute on function task_wait(uuid), vm_task_wait(uuid) from public;
grant execute on function task_wait(uuid) to skerry_tenant, skerry_system;
grant execute on function vm_task_wait(uuid) to skerry_system;
