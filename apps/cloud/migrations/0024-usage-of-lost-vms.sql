-- A VM that is not metered, because it is lost or deleted, keeps the time at which that began, whatever changes of it. Otherwise a change
-- while it is lost, and a clock that goes back after that, cost its organisation nothing for as long as the clock went back.
drop trigger meter_changed_vm on vm;
create trigger meter_changed_vm before update on vm for each row
  when ((old.status = 'POWERED_ON', old.cpus, old.memory_mib, old.stored_mib, old.deleted_at is null, old.lost_reason is null)
    is distinct from (new.status = 'POWERED_ON', new.cpus, new.memory_mib, new.disk_mib + new.snapshot_mib + new.taking_mib
      + greatest(new.saving_mib, case when new.status = 'SUSPENDED' then new.memory_mib else 0 end),
      new.deleted_at is null, new.lost_reason is null)
    and ((old.deleted_at is null and old.lost_reason is null) or (new.deleted_at is null and new.lost_reason is null)))
  execute function meter_vm();
