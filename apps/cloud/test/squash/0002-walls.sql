-- The second wall between tenants, behind the authorisation of every route: a request's transaction acts as
-- skerry_tenant and sees the rows of one organisation, or as skerry_system and sees all. One policy per role: a
-- policy with an "or" in it costs an index.
do $$ begin
  create role skerry_tenant nologin;
exception when duplicate_object or unique_violation then null; end $$;
do $$ begin
  create role skerry_system nologin;
exception when duplicate_object or unique_violation then null; end $$;
grant skerry_tenant, skerry_system to current_user;

do $$
declare each text;
begin
  foreach each in array array['account', 'session', 'vdc', 'template', 'vapp', 'vm', 'task', 'request_key', 'event'] loop
    execute format('alter table %I enable row level security', each);
    execute format('alter table %I force row level security', each);
    execute format(
      'create policy %I on %I to skerry_tenant using (org = nullif(current_setting(''app.org'', true), '''')::uuid)',
      each || '_own', each);
    execute format('create policy %I on %I to skerry_system using (true)', each || '_all', each);
    execute format('grant select, insert, update, delete on %I to skerry_tenant, skerry_system', each);
  end loop;
  foreach each in array array['org', 'image', 'cloud'] loop
    execute format('grant select on %I to skerry_tenant', each);
  end loop;
  foreach each in array array['org', 'image', 'cloud', 'cell', 'host', 'invitation', 'debt'] loop
    execute format('grant select, insert, update, delete on %I to skerry_system', each);
  end loop;
end $$;
grant usage on all sequences in schema public to skerry_tenant, skerry_system;
-- Taking a lock on a host's row, by the trigger that counts, needs the right to update it.
alter function count_placed() security definer;
grant select, update on number_counter to skerry_system;
grant select, update on number_era to skerry_system;
