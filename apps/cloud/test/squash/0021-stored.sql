-- A VM takes more of its host's disk than its own disk has: what its snapshot may hold, and its memory while it is suspended. All of it counts
-- in the sums of its host and in the quota of its organisation.
alter table vm
  -- The most that the snapshot can hold: the disk as it was, and the memory where it was kept.
  add column snapshot_mib integer not null default 0,
  -- Reserved for a snapshot that is being taken, or that may have been taken by a task that nobody heard the end of.
  add column taking_mib integer not null default 0,
  -- Its host was asked for that snapshot.
  add column taking_asked boolean not null default false,
  -- Reserved for memory that is being saved.
  add column saving_mib integer not null default 0,
  -- The last task whose room is counted in this row.
  add column reserved_task uuid;
update vm set snapshot_mib = disk_mib + case when snapshot_on then memory_mib else 0 end where snapshot is not null;
alter table vm add column stored_mib integer not null generated always as (disk_mib + snapshot_mib + taking_mib
  + greatest(saving_mib, case when status = 'SUSPENDED' then memory_mib else 0 end)) stored;

-- What the task will store beside the disk of its VM, so that it counts in the quota while it is queued.
alter table task add column stores_mib integer not null default 0;
create index task_stores on task (org) where stores_mib > 0 and state in ('queued', 'running');

drop trigger count_placed_update on vm;
create or replace function count_placed() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if tg_op <> 'INSERT' and old.host is not null and old.deleted_at is null then
    update host set placed_cpus = placed_cpus - old.cpus,
      placed_memory_mib = placed_memory_mib - old.memory_mib, placed_disk_mib = placed_disk_mib - old.stored_mib
    where id = old.host;
  end if;
  if tg_op <> 'DELETE' and new.host is not null and new.deleted_at is null then
    update host set placed_cpus = placed_cpus + new.cpus,
      placed_memory_mib = placed_memory_mib + new.memory_mib, placed_disk_mib = placed_disk_mib + new.stored_mib
    where id = new.host;
  end if;
  return null;
end $$;
create trigger count_placed_update after update on vm for each row
  when ((old.host, old.cpus, old.memory_mib, old.stored_mib, old.deleted_at)
    is distinct from (new.host, new.cpus, new.memory_mib, new.stored_mib, new.deleted_at))
  execute function count_placed();
update host set placed_disk_mib = (select coalesce(sum(vm.stored_mib), 0) from vm where vm.host = host.id and vm.deleted_at is null);
