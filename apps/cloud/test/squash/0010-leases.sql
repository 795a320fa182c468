-- How long vApps of an organisation may run, and are kept when they do not, in seconds; 0: for ever. Tenants read it, nobody of them
-- writes it.
create table lease_rule (
  org uuid primary key references org,
  deployment_default integer not null default 0,
  deployment_max integer not null default 0,
  storage_default integer not null default 0,
  storage_max integer not null default 0
);
alter table lease_rule enable row level security;
alter table lease_rule force row level security;
create policy lease_rule_own on lease_rule to skerry_tenant using (org = nullif(current_setting('app.org', true), '')::uuid);
create policy lease_rule_all on lease_rule to skerry_system using (true);
grant select on lease_rule to skerry_tenant;
grant select, insert, update, delete on lease_rule to skerry_system;

alter table vapp
  -- null: what is usual in its organisation.
  add column deployment_lease integer,
  add column storage_lease integer,
  -- Since when it was seen to run, or not to; one of them is null, and both are where no lease is counted.
  add column deployed_since timestamptz,
  add column stored_since timestamptz,
  -- Its storage lease was over then. It is deleted only after another one.
  add column expired_at timestamptz,
  -- That its lease ends soon was told.
  add column lease_warned boolean not null default false;

-- What counts of a vApp's own wish, what is usual, and the most that there may be.
create function lease_in_force(own integer, usual integer, most integer) returns integer language sql immutable
  return case when coalesce(most, 0) = 0 then coalesce(own, usual, 0)
    when coalesce(own, usual, 0) = 0 then most
    else least(coalesce(own, usual), most) end;

alter table cloud
  -- Until then leases may stop and delete more than is done without asking.
  add column expiry_allowed_until timestamptz,
  -- When that was last asked for.
  add column expiry_asked_at timestamptz;
