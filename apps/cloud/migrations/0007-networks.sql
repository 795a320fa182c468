-- Networks of organisations that reach across hosts. This database is the only truth. The databases of OVN are a projection of these
-- tables, written by the network server of a zone; they can be deleted at any time and are written again with the same ids and keys.

-- Hosts that reach each other by tunnels, with one control plane.
create table network_zone (
  id uuid primary key default uuid_v7(),
  name text collate "C" not null unique,
  -- The MTU of guests: that of the network between hosts less 58 bytes for the tunnel.
  mtu integer not null default 1442 check (mtu between 1280 and 8942),
  -- The number of keys of switches and routers that were given out. Counted on the locked row.
  keys integer not null default 0 check (keys between 0 and 16711680),
  -- The network server that may write the projection, and until when.
  holder text,
  lease_until timestamptz,
  -- The fencing token of the newest holder. A transaction of an older one is refused by OVN's database itself.
  fence bigint not null default 0,
  -- The address of the projection for hosts, such as ssl:192.0.2.1:6642, and the fencing token under which it was opened. It is
  -- opened when it is complete. Null: no projection was opened yet.
  remote text,
  opened bigint not null default 0
);
insert into network_zone (id, name) values ('00000000-0000-7000-8000-000000000001', 'default');

alter table vdc add column zone uuid not null default '00000000-0000-7000-8000-000000000001' references network_zone;
alter table host add column zone uuid not null default '00000000-0000-7000-8000-000000000001' references network_zone;
-- The address of the host's end of tunnels.
alter table host add column tunnel_address text;
-- none: it has no Open vSwitch. ready: its VMs can have cards on networks of the zone. failing: it has one that does not work now.
alter table host add column overlay text not null default 'none' check (overlay in ('none', 'ready', 'failing'));
alter table host add column overlay_reason text;
-- The external networks that it is connected to, by their uplink.
alter table host add column uplinks text[] not null default '{}';


-- ── The outside ────────────────────────────────────────────────────────────────────────────────────────────────────────────

-- A network outside of the cloud, configured by its administrators.
create table external_network (
  id uuid primary key default uuid_v7(),
  zone uuid not null references network_zone,
  name text collate "C" not null,
  -- outbound: address translation by each host, no addresses for tenants. provider: a network with a pool of addresses.
  kind text not null check (kind in ('outbound', 'provider')),
  -- The name by which hosts know the bridge that leads to it.
  uplink text not null check (uplink ~ '^[a-z][a-z0-9-]{0,14}$'),
  vlan integer check (vlan between 1 and 4094),
  gateway text not null,
  prefix integer not null check (prefix between 8 and 30),
  dns text[] not null default '{}',
  unique (zone, name)
);
-- Its pool. Addresses are numbers, so that ranges can be compared; inet operators are not leakproof.
create table external_range (
  external uuid not null references external_network on delete cascade,
  low bigint not null,
  high bigint not null,
  check (low <= high),
  primary key (external, low)
);
-- Where every host translates addresses itself, and answers DNS: outbound traffic needs no configuration of the site.
insert into external_network (id, zone, name, kind, uplink, gateway, prefix, dns)
  values ('00000000-0000-7000-8000-000000000002', '00000000-0000-7000-8000-000000000001', 'outbound', 'outbound', 'out', '100.64.0.1', 16,
    '{100.64.0.1}');
-- 100.64.0.16 to 100.64.255.254.
insert into external_range (external, low, high) values ('00000000-0000-7000-8000-000000000002', 1681915920, 1681981438);

-- Three hosts that carry edge gateways; a fourth host learns nothing about the networks behind them.
create table edge_group (
  id uuid primary key default uuid_v7(),
  zone uuid not null references network_zone,
  -- The key of its switch.
  key integer not null,
  unique (zone, key)
);
create table edge_group_host (
  edge_group uuid not null references edge_group on delete cascade,
  host uuid not null references host,
  primary key (edge_group, host)
);


-- ── Of organisations ───────────────────────────────────────────────────────────────────────────────────────────────────────

-- The router between networks of an organisation and an external network.
create table edge_gateway (
  org uuid not null,
  id uuid not null default uuid_v7(),
  vdc uuid not null,
  name text collate "C" not null,
  external uuid not null references external_network,
  edge_group uuid not null references edge_group,
  -- The hosts that carry it, the preferred one first.
  hosts uuid[] not null,
  key integer not null,
  -- The key of its port on the switch of its group.
  group_port integer not null check (group_port between 10 and 32767),
  -- Its own address on the external network.
  address text collate "C" not null,
  nat jsonb not null default '[]',
  firewall jsonb not null default '{"enabled": true, "otherwise": "drop", "rules": []}',
  routes jsonb not null default '[]',
  -- Of nat, firewall and routes; each change raises it.
  version integer not null default 1,
  created_at timestamptz not null default clock_timestamp(),
  deleted_at timestamptz,
  primary key (org, id),
  unique (id),
  foreign key (org, vdc) references vdc
);
create unique index edge_gateway_name on edge_gateway (org, vdc, name) where deleted_at is null;
create unique index edge_gateway_group_port on edge_gateway (edge_group, group_port) where deleted_at is null;

-- Addresses of external networks that are in use: of an edge gateway itself, or taken by its organisation.
create table external_address (
  external uuid not null references external_network,
  number bigint not null,
  address text collate "C" not null,
  org uuid not null,
  edge_gateway uuid not null,
  purpose text not null check (purpose in ('gateway', 'tenant')),
  primary key (external, number),
  foreign key (org, edge_gateway) references edge_gateway
);
create index external_address_of_edge on external_address (org, edge_gateway);

-- A network of an organisation.
create table network (
  org uuid not null,
  id uuid not null default uuid_v7(),
  vdc uuid not null,
  name text collate "C" not null,
  description text not null default '',
  kind text not null check (kind in ('isolated', 'routed', 'direct')),
  edge_gateway uuid,
  external uuid references external_network,
  shared boolean not null default false,
  -- Its range: the first address as a number, and the length of the prefix. Null for a direct network.
  base bigint,
  prefix integer check (prefix between 16 and 29),
  gateway text collate "C",
  dns text[] not null default '{}',
  dns_suffix text,
  key integer not null,
  -- The key of its port on the router of its edge gateway.
  edge_port integer check (edge_port between 10 and 32767),
  -- The next key of a port. Counted on the locked row.
  next_port integer not null default 10 check (next_port between 10 and 32768),
  created_at timestamptz not null default clock_timestamp(),
  deleted_at timestamptz,
  primary key (org, id),
  unique (id),
  foreign key (org, vdc) references vdc,
  foreign key (org, edge_gateway) references edge_gateway,
  check ((kind = 'routed') = (edge_gateway is not null)),
  check ((kind = 'routed') = (edge_port is not null)),
  check ((kind = 'direct') = (external is not null)),
  check ((kind = 'direct') = (base is null)),
  check ((base is null) = (prefix is null)),
  check ((base is null) = (gateway is null))
);
create unique index network_name on network (org, vdc, name) where deleted_at is null;
create unique index network_edge_port on network (org, edge_gateway, edge_port) where deleted_at is null;

-- The pool from which addresses are chosen, as offsets from the network's base. All others are for MANUAL.
create table network_range (
  org uuid not null,
  network uuid not null,
  low integer not null check (low > 0),
  high integer not null,
  check (low <= high),
  primary key (org, network, low),
  foreign key (org, network) references network on delete cascade
);

-- A card of a VM on a network. Its id is the name and uuid of its port in OVN, and libvirt's interfaceid.
create table nic (
  org uuid not null,
  id uuid not null default uuid_v7(),
  vm uuid not null,
  index integer not null check (index between 0 and 9),
  network uuid not null,
  mode text not null check (mode in ('POOL', 'MANUAL', 'DHCP', 'NONE')),
  -- The address as an offset from the network's base, and as text. Null for NONE.
  "offset" integer,
  address text collate "C",
  mac text collate "C" not null,
  -- The key of its port on the network.
  key integer not null check (key between 10 and 32767),
  connected boolean not null default true,
  primary key (org, id),
  unique (id),
  unique (org, vm, index),
  unique (org, network, "offset"),
  unique (org, network, mac),
  unique (org, network, key),
  foreign key (org, vm) references vm,
  foreign key (org, network) references network,
  check ((mode = 'NONE') = (address is null) and (address is null) = ("offset" is null))
);
create index nic_address on nic (org, address);

-- Addresses that were given back: none is given again within ten minutes, because neighbours remember it.
create table released_address (
  org uuid not null,
  network uuid not null,
  "offset" integer not null,
  released_at timestamptz not null default clock_timestamp(),
  primary key (org, network, "offset"),
  foreign key (org, network) references network on delete cascade
);
create function remember_released() returns trigger language plpgsql as $$
begin
  if old."offset" is not null then
    insert into released_address (org, network, "offset") values (old.org, old.network, old."offset")
      on conflict (org, network, "offset") do update set released_at = clock_timestamp();
  end if;
  return null;
end $$;
create trigger remember_released after delete on nic for each row execute function remember_released();
create trigger remember_released_update after update on nic for each row
  when ((old.network, old."offset") is distinct from (new.network, new."offset")) execute function remember_released();

alter table quota add column networks integer;
alter table quota add column edge_gateways integer;
alter table quota add column external_addresses integer;


-- ── What the projection lacks ──────────────────────────────────────────────────────────────────────────────────────────────

-- Units whose projection may not be current. The network server projects a unit, then deletes its row if the version is still the one
-- that it read. Versions of all units come from one sequence: a late end of an earlier change never matches a later one.
create sequence network_change_version as bigint;
create table network_change (
  zone uuid not null references network_zone,
  kind text not null check (kind in ('network', 'edge gateway', 'edge group')),
  unit uuid not null,
  version bigint not null default nextval('network_change_version'),
  since timestamptz not null default clock_timestamp(),
  attempts integer not null default 0,
  -- What OVN's database said to the last attempt.
  fault text,
  primary key (zone, kind, unit)
);
create index network_change_since on network_change (zone, since);
create index network_change_unit on network_change (kind, unit);

-- Marked by triggers, so that no code path can forget it: once for each unit that a statement changes, in the order of their ids, so
-- that two statements cannot deadlock. The functions of the triggers run as skerry_system, because tenants cannot write these rows.
create function mark_changes(networks uuid[], edge_gateways uuid[], edge_groups uuid[]) returns void language plpgsql as $$
begin
  insert into network_change (zone, kind, unit)
    select zone, kind, unit from (
      select vdc.zone, 'network' as kind, network.id as unit from network join vdc on vdc.org = network.org and vdc.id = network.vdc
        where network.id = any(networks)
      union
      select vdc.zone, 'edge gateway', edge_gateway.id
        from edge_gateway join vdc on vdc.org = edge_gateway.org and vdc.id = edge_gateway.vdc
        -- Rules of an edge gateway name the ports of its networks.
        where edge_gateway.id = any(edge_gateways)
          or edge_gateway.id in (select network.edge_gateway from network where network.id = any(networks))
      union
      select edge_group.zone, 'edge group', edge_group.id from edge_group where edge_group.id = any(edge_groups)
    ) changed
    order by kind, unit
    -- Drawn when the row is locked: of two transactions the later one has the higher version, so that its task ends last.
    on conflict (zone, kind, unit) do update set version = nextval('network_change_version'), attempts = 0, fault = null;
  if found then perform pg_notify('skerry_network', ''); end if;
end $$;

create function network_changed() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform mark_changes((select array_agg(id) from changed), '{}', '{}');
  return null;
end $$;
create trigger network_inserted after insert on network referencing new table as changed
  for each statement execute function network_changed();
create trigger network_updated after update on network referencing new table as changed
  for each statement execute function network_changed();

create function nic_changed() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform mark_changes((select array_agg(network) from changed), '{}', '{}');
  return null;
end $$;
create function nic_moved() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform mark_changes((select array_agg(network) from (select network from earlier union select network from changed) touched),
    '{}', '{}');
  return null;
end $$;
create trigger nic_inserted after insert on nic referencing new table as changed for each statement execute function nic_changed();
create trigger nic_deleted after delete on nic referencing old table as changed for each statement execute function nic_changed();
create trigger nic_updated after update on nic referencing old table as earlier new table as changed
  for each statement execute function nic_moved();

-- A port is bound to the host of its VM, and DNS answers with the name of its guest.
create function vm_moved() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform mark_changes(networks, '{}', '{}')
    from (select array_agg(nic.network) as networks from nic where nic.org = new.org and nic.vm = new.id) own where networks is not null;
  return null;
end $$;
-- Whichever path deletes a VM, its cards go with it: they would keep their addresses and their networks for ever.
create function vm_deleted() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  delete from nic where org = new.org and vm = new.id;
  return null;
end $$;
create trigger vm_deleted after update on vm for each row
  when (old.deleted_at is null and new.deleted_at is not null) execute function vm_deleted();
create trigger vm_moved after update on vm for each row
  when ((old.host, old.name, old.computer_name) is distinct from (new.host, new.name, new.computer_name))
  execute function vm_moved();

create function edge_gateway_changed() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform mark_changes('{}', (select array_agg(id) from changed), (select array_agg(edge_group) from changed));
  return null;
end $$;
create trigger edge_gateway_inserted after insert on edge_gateway referencing new table as changed
  for each statement execute function edge_gateway_changed();
create trigger edge_gateway_updated after update on edge_gateway referencing new table as changed
  for each statement execute function edge_gateway_changed();

create function external_address_changed() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform mark_changes('{}', (select array_agg(edge_gateway) from changed), '{}');
  return null;
end $$;
create trigger external_address_inserted after insert on external_address referencing new table as changed
  for each statement execute function external_address_changed();
create trigger external_address_deleted after delete on external_address referencing old table as changed
  for each statement execute function external_address_changed();

create function edge_group_changed() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform mark_changes('{}', '{}', (select array_agg(edge_group) from changed));
  return null;
end $$;
create trigger edge_group_host_inserted after insert on edge_group_host referencing new table as changed
  for each statement execute function edge_group_changed();
create trigger edge_group_host_deleted after delete on edge_group_host referencing old table as changed
  for each statement execute function edge_group_changed();

-- A task about a network or an edge gateway. It ends when this version of the unit is projected.
alter table task add column network uuid;
alter table task add column edge_gateway uuid;
alter table task add column unit_version bigint;
alter table task add constraint task_of_unit
  check ((network is null and edge_gateway is null) or (vm is null and vapp is null and children is null and parent is null));
alter table task add constraint task_network foreign key (org, network) references network;
alter table task add constraint task_edge_gateway foreign key (org, edge_gateway) references edge_gateway;
create index task_of_network on task (network) where network is not null;
create index task_of_edge_gateway on task (edge_gateway) where edge_gateway is not null;

-- Inserted after the change in the same transaction, so that the row of its unit is there.
create function task_unit_version() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  new.unit_version := (select version from network_change where case when new.network is not null
    then kind = 'network' and unit = new.network else kind = 'edge gateway' and unit = new.edge_gateway end);
  return new;
end $$;
create trigger task_unit_version before insert on task for each row
  when (new.network is not null or new.edge_gateway is not null) execute function task_unit_version();


-- ── Keys, and the default network ──────────────────────────────────────────────────────────────────────────────────────────

-- The next key of a switch or router. Tenants cannot write zones.
create function take_network_key(the_vdc uuid) returns integer language sql security definer set search_path = public, pg_temp as $$
  update network_zone set keys = keys + 1 where id = (select zone from vdc where vdc.id = the_vdc
    and vdc.org = coalesce(nullif(current_setting('app.org', true), '')::uuid, vdc.org)) returning keys;
$$;

-- Whether VMs of a virtual datacenter can have cards on networks: a projection was opened, and a host is ready for it.
create function has_networks(the_vdc uuid) returns boolean language sql stable security definer set search_path = public, pg_temp as $$
  select exists (select from vdc join network_zone on network_zone.id = vdc.zone
    where vdc.id = the_vdc and vdc.org = coalesce(nullif(current_setting('app.org', true), '')::uuid, vdc.org)
      and network_zone.opened > 0
      and exists (select from host where host.zone = network_zone.id and host.overlay = 'ready' and host.state = 'joined'));
$$;

-- Whether the cards of a VM can be on networks: it has no host yet, or one in the zone of its virtual datacenter that is ready. Tenants
-- cannot read hosts.
create function host_takes_cards(the_vm uuid) returns boolean language sql stable security definer set search_path = public, pg_temp as $$
  select coalesce((select host.overlay = 'ready' and host.zone = vdc.zone
    from vm join vdc on vdc.org = vm.org and vdc.id = vm.vdc join host on host.id = vm.host
    where vm.id = the_vm and vm.org = coalesce(nullif(current_setting('app.org', true), '')::uuid, vm.org)), true);
$$;

-- The group for another edge gateway: the one with the most hosts, then the fewest edge gateways. Three hosts make a group; a site
-- with fewer has smaller groups, and the first gateway after it has grown makes a new one. A group leads to one external network.
create function choose_edge_group(the_zone uuid, the_external uuid, the_uplink text) returns uuid language plpgsql as $$
declare
  ready uuid[];
  found_group uuid;
begin
  select coalesce(array_agg(id order by carried, id), '{}') into ready from (
    select host.id, (select count(*) from edge_group_host carrying where carrying.host = host.id) as carried from host
      where host.zone = the_zone and host.state = 'joined' and host.overlay = 'ready' and the_uplink = any(host.uplinks)
      order by carried, host.id limit 3) best;
  if ready = '{}' then return null; end if;
  select id into found_group from (
    select edge_group.id, (select count(*) from edge_gateway where edge_gateway.edge_group = edge_group.id) as gateways,
      (select count(*) from edge_group_host member join host on host.id = member.host
        where member.edge_group = edge_group.id and host.state = 'joined' and host.overlay = 'ready') as hosts
    from edge_group where edge_group.zone = the_zone and not exists (select from edge_gateway other
      where other.edge_group = edge_group.id and other.external <> the_external)) existing
    where hosts >= cardinality(ready) and gateways < 100 order by hosts desc, gateways, id limit 1;
  if found_group is null then
    update network_zone set keys = keys + 1 where id = the_zone;
    insert into edge_group (zone, key) select id, keys from network_zone where id = the_zone returning id into found_group;
    insert into edge_group_host (edge_group, host) select found_group, unnest(ready);
  end if;
  return found_group;
end $$;

create function make_default_edge_gateway(the_org uuid, the_vdc uuid) returns uuid language plpgsql as $$
declare
  outside external_network;
  the_group uuid;
  own bigint;
  made uuid := uuid_v7();
begin
  -- Its row is locked: addresses are given out one after the other.
  select external_network.* into outside from external_network join vdc on vdc.zone = external_network.zone
    where vdc.org = the_org and vdc.id = the_vdc and external_network.kind = 'outbound'
    order by external_network.id limit 1 for update of external_network;
  if not found then return null; end if;
  the_group := choose_edge_group(outside.zone, outside.id, outside.uplink);
  select min(number) into own from (
    select low as number from external_range where external = outside.id
    union all select number + 1 from external_address where external = outside.id) candidate
    where exists (select from external_range where external = outside.id and candidate.number between low and high)
      and not exists (select from external_address used where used.external = outside.id and used.number = candidate.number);
  if the_group is null or own is null then return null; end if;
  update network_zone set keys = keys + 1 where id = outside.zone;
  insert into edge_gateway (org, id, vdc, name, external, edge_group, hosts, key, group_port, address)
    select the_org, made, the_vdc, 'default', outside.id, the_group,
      -- Not the same host first for all.
      (select array_agg(member.host order by md5(member.host::text || made::text)) from edge_group_host member
        where member.edge_group = the_group),
      network_zone.keys, (select min(port) from generate_series(10, 32767) port
        where not exists (select from edge_gateway other where other.edge_group = the_group and other.group_port = port)),
      host('0.0.0.0'::inet + own)
    from network_zone where network_zone.id = outside.zone;
  insert into external_address (external, number, address, org, edge_gateway, purpose)
    select outside.id, own, address, the_org, made, 'gateway' from edge_gateway where org = the_org and id = made;
  return made;
end $$;

-- The lowest free key of a port on the router of an edge gateway. That of a deleted network is free when its row is gone: by then the
-- projection has no such port any more.
create function free_edge_port(the_gateway uuid) returns integer language sql stable as $$
  select min(port) from generate_series(10, 32767) port
    where not exists (select from network where network.edge_gateway = the_gateway and network.edge_port = port);
$$;

-- The edge gateway named default of a virtual datacenter, made when it is first needed. Null: no host can carry one.
create function provide_default_edge_gateway(the_vdc uuid) returns uuid language plpgsql
  security definer set search_path = public, pg_temp as $$
declare
  the_org uuid := (select org from vdc where id = the_vdc and org = coalesce(nullif(current_setting('app.org', true), '')::uuid, org));
  found_gateway uuid;
begin
  if the_org is null or not has_networks(the_vdc) then return null; end if;
  -- The networks of an organisation are made one after the other.
  perform pg_advisory_xact_lock(hashtextextended('networks/' || the_org::text, 0));
  select id into found_gateway from edge_gateway where org = the_org and vdc = the_vdc and name = 'default' and deleted_at is null;
  if found then return found_gateway; end if;
  return make_default_edge_gateway(the_org, the_vdc);
end $$;

-- The network named default of a virtual datacenter, for VMs that name no network. It is made when it is first needed: 10.84.0.0/20
-- behind an edge gateway to the outbound network. Null: the virtual datacenter has no networks.
create function provide_default_network(the_vdc uuid) returns uuid language plpgsql security definer set search_path = public, pg_temp as $$
declare
  the_org uuid := (select org from vdc where id = the_vdc and org = coalesce(nullif(current_setting('app.org', true), '')::uuid, org));
  found_network uuid;
  gateway_of uuid;
begin
  if the_org is null or not has_networks(the_vdc) then return null; end if;
  for attempt in 1..2 loop
    select id into found_network from network where org = the_org and vdc = the_vdc and name = 'default' and deleted_at is null;
    if found then return found_network; end if;
    -- It locks: another request may have made the network in the meantime.
    gateway_of := provide_default_edge_gateway(the_vdc);
    if gateway_of is null then return null; end if;
  end loop;
  -- The organisation may have a network with these addresses.
  if exists (select from network where org = the_org and edge_gateway = gateway_of and deleted_at is null
      and base <= 173281279 and base + (1::bigint << (32 - prefix)) > 173277184) then return null; end if;
  insert into network (org, vdc, name, description, kind, edge_gateway, base, prefix, gateway, dns, key, edge_port)
    select the_org, the_vdc, 'default', 'The network of VMs that name no other', 'routed', gateway_of, 173277184, 20, '10.84.0.1',
      external_network.dns, take_network_key(the_vdc),
      free_edge_port(gateway_of)
    from edge_gateway join external_network on external_network.id = edge_gateway.external
    where edge_gateway.org = the_org and edge_gateway.id = gateway_of
    returning id into found_network;
  insert into network_range (org, network, low, high) values (the_org, found_network, 10, 4094);
  insert into event (kind, org, details) values ('network.created', the_org,
    jsonb_build_object('network', found_network, 'name', 'default', 'vdc', the_vdc));
  return found_network;
end $$;


-- ── The network server ─────────────────────────────────────────────────────────────────────────────────────────────────────

-- Its login reads what it projects, and changes rows by these functions only.
do $$ begin
  create role skerry_network nologin;
exception when duplicate_object or unique_violation then null; end $$;
grant skerry_network to current_user;

-- Takes the zone for a server if no other holds it, or renews it. Returns the fencing token, or null if another server holds it. While
-- the cloud recovers from a restore no server holds it: what was projected stays. A token of an earlier era is not renewed: hosts may
-- have seen a higher one that this database does not know.
create function hold_zone(the_zone uuid, server text, seconds integer) returns bigint language plpgsql
  security definer set search_path = public, pg_temp as $$
declare z network_zone;
begin
  if (select recovering from cloud) then return null; end if;
  -- Rows of tenants refer to the zone. Their locks do not delay the renewal of a lease, which `for update` would.
  select * into z from network_zone where id = the_zone for no key update;
  if not found then return null; end if;
  if z.holder is distinct from server and z.lease_until > clock_timestamp() then return null; end if;
  if z.holder is distinct from server or z.fence / 1099511627776 < current_era() then
    update network_zone set holder = server, fence = next_fence() where id = the_zone returning * into z;
    insert into event (kind, details)
      values ('network.holder', jsonb_build_object('zone', z.name, 'server', server, 'fence', z.fence::text));
  end if;
  update network_zone set lease_until = clock_timestamp() + make_interval(secs => seconds) where id = the_zone;
  return z.fence;
end $$;
create function release_zone(the_zone uuid, the_fence bigint) returns void language sql
  security definer set search_path = public, pg_temp as $$
  update network_zone set lease_until = clock_timestamp() where id = the_zone and fence = the_fence;
$$;
-- The projection is complete and open to hosts.
create function open_zone(the_zone uuid, the_fence bigint, the_remote text) returns boolean language plpgsql
  security definer set search_path = public, pg_temp as $$
begin
  update network_zone set remote = the_remote, opened = the_fence where id = the_zone and fence = the_fence;
  return found;
end $$;
-- The unit is projected as it was at this version.
create function end_network_change(the_zone uuid, the_fence bigint, the_kind text, the_unit uuid, the_version bigint) returns boolean
  language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform from network_zone where id = the_zone and fence = the_fence for share;
  if not found then return false; end if;
  delete from network_change where zone = the_zone and kind = the_kind and unit = the_unit and version = the_version;
  with ended as (
    update task set state = 'success', progress = 100, ended_at = clock_timestamp()
    where state in ('queued', 'running') and coalesce(unit_version, 0) <= the_version
      and ((the_kind = 'network' and network = the_unit) or (the_kind = 'edge gateway' and edge_gateway = the_unit))
    returning id, org, operation)
  insert into event (kind, org, task, details)
    select 'task.success', org, id, jsonb_build_object('operation', operation, 'message', null) from ended;
  return true;
end $$;
create function fail_network_change(the_zone uuid, the_fence bigint, the_kind text, the_unit uuid, the_version bigint, the_fault text)
  returns boolean language plpgsql security definer set search_path = public, pg_temp as $$
declare tried integer;
begin
  perform from network_zone where id = the_zone and fence = the_fence for share;
  if not found then return false; end if;
  update network_change set attempts = attempts + 1, fault = the_fault
    where zone = the_zone and kind = the_kind and unit = the_unit and version = the_version returning attempts into tried;
  -- For administrators: the fault is that of a database that tenants do not know.
  if tried = 3 then
    insert into event (kind, details) values ('network.refused', jsonb_build_object('unit', the_kind, 'id', the_unit, 'why', the_fault));
  end if;
  return true;
end $$;


-- ── Permissions ────────────────────────────────────────────────────────────────────────────────────────────────────────────

do $$
declare each record;
begin
  for each in select * from (values
      ('network', 'select, insert, update, delete'), ('network_range', 'select, insert, update, delete'),
      ('nic', 'select, insert, update, delete'), ('released_address', 'select, insert, update, delete'),
      ('edge_gateway', 'select'), ('external_address', 'select'))
      as protected(name, granted) loop
    execute format('alter table %I enable row level security', each.name);
    execute format('alter table %I force row level security', each.name);
    execute format('create policy %I on %I to skerry_tenant using (org = nullif(current_setting(''app.org'', true), '''')::uuid)',
      each.name || '_own', each.name);
    execute format('create policy %I on %I to skerry_system using (true)', each.name || '_all', each.name);
    execute format('grant select, insert, update, delete on %I to skerry_system', each.name);
    execute format('grant %s on %I to skerry_tenant', each.granted, each.name);
  end loop;
  for each in select * from (values ('vdc'), ('vm'), ('network'), ('network_range'), ('nic'), ('edge_gateway'), ('external_address'))
      as projected(name) loop
    execute format('create policy %I on %I for select to skerry_network using (true)', each.name || '_projected', each.name);
  end loop;
end $$;

grant select, insert, update, delete on
  network_zone, network_change, external_network, external_range, edge_group, edge_group_host to skerry_system;
grant usage on sequence network_change_version to skerry_system;
-- Not where the projection is, nor who writes it.
grant select (id, name, mtu, opened) on network_zone to skerry_tenant;
grant select on
  cloud, network_zone, network_change, external_network, external_range, edge_group, edge_group_host, network, network_range, nic,
  edge_gateway, external_address to skerry_network;
grant select (org, id, zone) on vdc to skerry_network;
grant select (org, id, name, computer_name, host, boot, status, desired_power, deleted_at) on vm to skerry_network;
grant select (id, name, address, state, zone, tunnel_address, overlay, uplinks, seen_at) on host to skerry_network;

grant create on schema public to skerry_system;
alter function network_changed() owner to skerry_system;
alter function nic_changed() owner to skerry_system;
alter function nic_moved() owner to skerry_system;
alter function vm_deleted() owner to skerry_system;
alter function vm_moved() owner to skerry_system;
alter function edge_gateway_changed() owner to skerry_system;
alter function external_address_changed() owner to skerry_system;
alter function edge_group_changed() owner to skerry_system;
alter function task_unit_version() owner to skerry_system;
alter function take_network_key(uuid) owner to skerry_system;
alter function has_networks(uuid) owner to skerry_system;
alter function host_takes_cards(uuid) owner to skerry_system;
alter function provide_default_edge_gateway(uuid) owner to skerry_system;
alter function provide_default_network(uuid) owner to skerry_system;
alter function hold_zone(uuid, text, integer) owner to skerry_system;
alter function release_zone(uuid, bigint) owner to skerry_system;
alter function open_zone(uuid, bigint, text) owner to skerry_system;
alter function end_network_change(uuid, bigint, text, uuid, bigint) owner to skerry_system;
alter function fail_network_change(uuid, bigint, text, uuid, bigint, text) owner to skerry_system;
revoke create on schema public from skerry_system;
revoke execute on function take_network_key(uuid), has_networks(uuid), host_takes_cards(uuid), provide_default_edge_gateway(uuid),
  provide_default_network(uuid), hold_zone(uuid, text, integer), release_zone(uuid, bigint), open_zone(uuid, bigint, text), end_network_change(uuid, bigint, text, uuid, bigint),
  fail_network_change(uuid, bigint, text, uuid, bigint, text) from public;
grant execute on function take_network_key(uuid), has_networks(uuid), host_takes_cards(uuid), provide_default_edge_gateway(uuid),
  provide_default_network(uuid) to skerry_tenant, skerry_system;
grant execute on function hold_zone(uuid, text, integer), release_zone(uuid, bigint), open_zone(uuid, bigint, text),
  end_network_change(uuid, bigint, text, uuid, bigint), fail_network_change(uuid, bigint, text, uuid, bigint, text) to skerry_network;
