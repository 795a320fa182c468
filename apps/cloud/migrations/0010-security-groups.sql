-- Security groups: which packets VMs with some labels accept and send. Labels are metadata entries of VMs. The network server projects
-- them with the networks of the VMs, in the same transaction as the cards: no card is ever there without its rules.

create table security_group (
  org uuid not null references org,
  id uuid not null default uuid_v7(),
  name text collate "C" not null,
  description text not null default '',
  -- Whether its VMs accept only what a rule allows, and whether they send only that.
  limits_in boolean not null,
  limits_out boolean not null,
  -- Each change raises it.
  version integer not null default 1,
  created_at timestamptz not null default clock_timestamp(),
  primary key (org, id),
  unique (id),
  unique (org, name)
);

-- Its VMs have all of these labels. A group without labels has no VMs.
create table security_group_label (
  org uuid not null,
  security_group uuid not null,
  key text collate "C" not null,
  value text not null,
  primary key (org, security_group, key),
  foreign key (org, security_group) references security_group on delete cascade
);
create index security_group_label_key on security_group_label (org, key);

-- What it allows. A peer is a block of addresses, the VMs of a group of the same organisation, or anybody.
create table security_group_rule (
  org uuid not null,
  security_group uuid not null,
  place integer not null check (place between 0 and 32767),
  direction text not null check (direction in ('in', 'out')),
  protocol text not null check (protocol in ('tcp', 'udp', 'icmp', 'any')),
  low integer check (low between 1 and 65535),
  high integer check (high between 1 and 65535),
  block text collate "C" check (block ~ '^[0-9]{1,3}(\.[0-9]{1,3}){3}/[0-9]{1,2}$'),
  peer uuid,
  primary key (org, security_group, place),
  foreign key (org, security_group) references security_group on delete cascade,
  -- A group that is a peer cannot be deleted.
  foreign key (org, peer) references security_group,
  check ((low is null) = (high is null) and low <= high),
  check (low is null or protocol in ('tcp', 'udp')),
  check (block is null or peer is null)
);
create index security_group_rule_peer on security_group_rule (org, peer) where peer is not null;

create index metadata_label on metadata (org, key) where vm is not null;
-- The VMs of each group.
create view security_group_member with (security_invoker = true) as
  select label.org, label.security_group, metadata.vm
  from security_group_label label
    join metadata on metadata.org = label.org and metadata.key = label.key and metadata.value = label.value
      and metadata.vm is not null
  group by label.org, label.security_group, metadata.vm
  having count(*) = (select count(*) from security_group_label every
    where every.org = label.org and every.security_group = label.security_group);


-- ── What the projection lacks ──────────────────────────────────────────────────────────────────────────────────────────────

-- The rules of a card are rows of its network's unit, so a change marks networks. That of a group marks all networks of the
-- organisation that have cards: groups change rarely, and comparing costs OVN nothing.
create function security_group_changed() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform mark_changes(networks, '{}', '{}') from (
    select array_agg(distinct nic.network) as networks from nic where nic.org in (select org from changed)) own
    where networks is not null;
  return null;
end $$;

-- A label that changes while a group is being changed may belong to it, although neither transaction sees the other. A change of
-- groups waits for the changes of labels that came before it; a change of labels that finds one under way marks its networks in
-- any case. It does not wait: it may have marked other networks, and two that wait for each other would deadlock.
create function security_group_changing() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('security groups/' || coalesce(new.org, old.org)::text, 0));
  return coalesce(new, old);
end $$;
create function label_changed() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform mark_changes(networks, '{}', '{}') from (
    select array_agg(distinct nic.network) as networks
    from nic join changed on changed.org = nic.org and changed.vm = nic.vm
    where not pg_try_advisory_xact_lock_shared(hashtextextended('security groups/' || changed.org::text, 0))
      or exists (select from security_group_label label where label.org = changed.org and label.key = changed.key)) own
    where networks is not null;
  return null;
end $$;
create function label_renewed() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform mark_changes(networks, '{}', '{}') from (
    select array_agg(distinct nic.network) as networks
    from nic join (select org, vm, key from earlier union select org, vm, key from changed) touched
      on touched.org = nic.org and touched.vm = nic.vm
    where not pg_try_advisory_xact_lock_shared(hashtextextended('security groups/' || touched.org::text, 0))
      or exists (select from security_group_label label where label.org = touched.org and label.key = touched.key)) own
    where networks is not null;
  return null;
end $$;

do $$
declare each text;
begin
  foreach each in array array['security_group', 'security_group_label', 'security_group_rule'] loop
    execute format('create trigger %I before insert or update or delete on %I for each row execute function security_group_changing()',
      each || '_changing', each);
    execute format('create trigger %I after insert on %I referencing new table as changed
      for each statement execute function security_group_changed()', each || '_inserted', each);
    execute format('create trigger %I after update on %I referencing new table as changed
      for each statement execute function security_group_changed()', each || '_updated', each);
    execute format('create trigger %I after delete on %I referencing old table as changed
      for each statement execute function security_group_changed()', each || '_deleted', each);
  end loop;
end $$;
create trigger label_inserted after insert on metadata referencing new table as changed
  for each statement execute function label_changed();
create trigger label_deleted after delete on metadata referencing old table as changed
  for each statement execute function label_changed();
create trigger label_updated after update on metadata referencing old table as earlier new table as changed
  for each statement execute function label_renewed();

-- Whether the network server has projected all networks of an organisation as they are. Tenants cannot read its changes.
create function networks_projected(the_org uuid) returns boolean language sql stable security definer set search_path = public, pg_temp as $$
  select not exists (select from network join network_change on network_change.kind = 'network' and network_change.unit = network.id
    where network.org = the_org and network.org = coalesce(nullif(current_setting('app.org', true), '')::uuid, network.org)
      and network.deleted_at is null);
$$;


-- ── Permissions ────────────────────────────────────────────────────────────────────────────────────────────────────────────

do $$
declare each text;
begin
  foreach each in array array['security_group', 'security_group_label', 'security_group_rule'] loop
    execute format('alter table %I enable row level security', each);
    execute format('alter table %I force row level security', each);
    execute format('create policy %I on %I to skerry_tenant using (org = nullif(current_setting(''app.org'', true), '''')::uuid)',
      each || '_own', each);
    execute format('create policy %I on %I to skerry_system using (true)', each || '_all', each);
    execute format('create policy %I on %I for select to skerry_network using (true)', each || '_projected', each);
    execute format('grant select, insert, update, delete on %I to skerry_tenant, skerry_system', each);
    execute format('grant select on %I to skerry_network', each);
  end loop;
end $$;
create policy metadata_projected on metadata for select to skerry_network using (true);
grant select (org, vm, key, value) on metadata to skerry_network;
grant select on security_group_member to skerry_tenant, skerry_system, skerry_network;

grant create on schema public to skerry_system;
alter function security_group_changed() owner to skerry_system;
alter function security_group_changing() owner to skerry_system;
alter function label_changed() owner to skerry_system;
alter function label_renewed() owner to skerry_system;
alter function networks_projected(uuid) owner to skerry_system;
revoke create on schema public from skerry_system;
revoke execute on function networks_projected(uuid) from public;
grant execute on function networks_projected(uuid) to skerry_tenant, skerry_system;
