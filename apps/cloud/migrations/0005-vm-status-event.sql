-- The event vm.status: the status or the address that clients see of a VM has changed. A trigger writes it, so that no code path can
-- forget to, and only a trigger knows the values before without another read. What makes a whole host's VMs UNKNOWN is one event for
-- each organisation, and MISSING and LOST have events of their own.
create function emit_vm_status() returns trigger language plpgsql as $$
begin
  insert into event (kind, org, vapp, vm, details) values ('vm.status', new.org, new.vapp, new.id,
    jsonb_strip_nulls(jsonb_build_object('status', new.displayed_status, 'address', new.address)));
  return null;
end $$;
create trigger emit_vm_status after update on vm for each row
  when (new.deleted_at is null and new.displayed_status not in ('UNKNOWN', 'MISSING', 'LOST')
    and (old.displayed_status, old.address) is distinct from (new.displayed_status, new.address))
  execute function emit_vm_status();
