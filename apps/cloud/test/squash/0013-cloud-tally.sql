-- The administrator's totals by status over all organisations: a row for each status, where adding up those of a thousand
-- organisations took longer than the page itself.
create table vm_tally_cloud (
  shown text collate "C" primary key,
  n bigint not null
) with (fillfactor = 50);
insert into vm_tally_cloud select shown, sum(n) from vm_tally group by 1;
alter table vm_tally_cloud enable row level security;
alter table vm_tally_cloud force row level security;
create policy vm_tally_cloud_all on vm_tally_cloud to skerry_system using (true);
grant select, insert, update, delete on vm_tally_cloud to skerry_system;

create or replace function vm_tally_fold() returns bigint language plpgsql as $$
declare folded bigint;
begin
  if not pg_try_advisory_xact_lock(hashtext('vm_tally_fold')) then return 0; end if;
  with gone as (delete from vm_tally_delta returning *),
  kept as (
    insert into vm_tally as tally
      select org, vdc, shown, sum(n) from gone group by 1, 2, 3 having sum(n) <> 0
    on conflict (org, shown, vdc) do update set n = tally.n + excluded.n),
  everywhere as (
    insert into vm_tally_cloud as tally
      select shown, sum(n) from gone group by 1 having sum(n) <> 0
    on conflict (shown) do update set n = tally.n + excluded.n)
  select count(*) into folded from gone;
  return folded;
end $$;
