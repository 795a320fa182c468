-- The database of the workflow server. Organisations and accounts belong to the cloud: rows contain their ids, and their names.
-- States are text with a check, not enums: under row-level security an enum cannot use its index.

create function uuid_v7() returns uuid language sql volatile as $$
  -- The first 48 bits are the time in milliseconds, so that later ids sort later.
  select encode(
    set_bit(set_bit(
      overlay(uuid_send(gen_random_uuid())
        placing substring(int8send(floor(extract(epoch from clock_timestamp()) * 1000)::bigint) from 3)
        from 1 for 6),
      52, 1), 53, 1), 'hex')::uuid
$$;

-- A folder of workflows. Names sort by bytes: pages are continued by name.
create table category (
  org uuid not null,
  id uuid not null default uuid_v7(),
  parent uuid,
  name text collate "C" not null,
  description text not null default '',
  -- From the outermost folder to this one, for display: Library/Backup.
  path text collate "C" not null,
  primary key (org, id),
  unique nulls not distinct (org, parent, name),
  foreign key (org, parent) references category
);

-- The id comes with an archive, so that a workflow keeps it wherever it is imported. It is unique in its organisation only;
-- otherwise a refusal would reveal what another organisation has.
create table workflow (
  org uuid not null,
  org_name text not null,
  id uuid not null default uuid_v7(),
  category uuid not null,
  -- A copy from its folder, so that lists need no join.
  category_name text collate "C" not null,
  name text collate "C" not null,
  description text not null default '',
  tags text[] not null default '{}',
  -- The current version; runs keep the version that they started with.
  version text collate "C" not null,
  digest text not null,
  owner uuid not null,
  owner_name text not null,
  made_at timestamptz not null default clock_timestamp(),
  changed_at timestamptz not null default clock_timestamp(),
  -- Its runs are still listed.
  deleted_at timestamptz,
  primary key (org, id),
  foreign key (org, category) references category
);
create unique index workflow_name on workflow (org, category, name) where deleted_at is null;
create index workflow_listed on workflow (org, name, id) where deleted_at is null;
create index workflow_listed_all on workflow (name, id, org) where deleted_at is null;
create index workflow_tags on workflow using gin (tags) where deleted_at is null;

-- One immutable version. The digest is the SHA-256 of the text.
create table workflow_version (
  org uuid not null,
  workflow uuid not null,
  digest text not null check (digest ~ '^[0-9a-f]{64}$'),
  version text not null,
  -- The name by which other workflows call it, beside its version.
  namespace text not null,
  called text not null,
  -- As its author wrote it.
  text text not null,
  -- The same as json: jsonb would lose the author's order.
  document json not null,
  -- JSON Schema of the input; null: anything.
  form json,
  made_by text not null,
  made_at timestamptz not null default clock_timestamp(),
  primary key (org, workflow, digest),
  foreign key (org, workflow) references workflow
);
create index workflow_version_digest on workflow_version (digest);
create index workflow_version_called on workflow_version (org, namespace, called, version);
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'a version of a workflow never changes';
end $$;
create trigger workflow_version_stays before update or delete on workflow_version
  for each row execute function refuse_change();

-- Schedules of workflows. Temporal triggers them; this is the request.
create table schedule (
  org uuid not null,
  id uuid not null default uuid_v7(),
  workflow uuid not null,
  name text not null,
  -- The grant of the cloud, which checks it at every call.
  grant_id text not null,
  account uuid not null,
  account_name text not null,
  -- Exactly one of these two is set.
  cron text,
  every_seconds integer,
  time_zone text not null,
  overlap text not null check (overlap in ('skip', 'queue', 'queue-all', 'cancel-other', 'allow')),
  paused boolean not null default false,
  -- Why the server paused it; null if it runs, or if a user paused it.
  paused_why text,
  input json not null default '{}',
  made_at timestamptz not null default clock_timestamp(),
  deleted_at timestamptz,
  primary key (org, id),
  unique (id),
  foreign key (org, workflow) references workflow
);
create index schedule_of_workflow on schedule (org, workflow, id) where deleted_at is null;

create table execution (
  org uuid not null,
  id uuid not null default uuid_v7(),
  workflow uuid not null,
  name text not null,
  version text not null,
  digest text not null,
  -- Null until the cloud has issued one.
  grant_id text,
  account uuid not null,
  account_name text not null,
  schedule uuid,
  -- The run that started this one.
  parent uuid,
  -- The idempotency key: a repeated request is the same execution.
  request_key text,
  state text not null default 'initializing' check (state in
    ('initializing', 'running', 'waiting', 'waiting-signal', 'suspended', 'completed', 'failed', 'canceled')),
  cancel boolean not null default false,
  -- Secrets are replaced by references.
  input json not null default '{}',
  output json,
  -- Its position in the definition, as a JSON pointer, and the name of that task.
  step text,
  step_name text,
  error json,
  -- Reports may be repeated or late: one with a lower number changes nothing.
  number integer not null default 0,
  logs integer not null default 0,
  started_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  primary key (org, id),
  unique (id),
  foreign key (org, workflow, digest) references workflow_version,
  foreign key (org, schedule) references schedule,
  foreign key (org, parent) references execution on delete cascade
);
create unique index execution_request on execution (org, account, request_key) where request_key is not null and parent is null;
create unique index execution_child on execution (org, parent, request_key) where parent is not null;
create index execution_of_workflow on execution (org, workflow, started_at, id);
create index execution_recent on execution (org, started_at, id);
create index execution_recent_all on execution (started_at, id);
-- For retention.
create index execution_ended on execution (ended_at) where ended_at is not null and parent is null;
create index execution_open on execution (org, id) where state not in ('completed', 'failed', 'canceled');

-- Sealed: the database alone reveals nothing. Deleted at the end of the run.
create table execution_secret (
  org uuid not null,
  execution uuid not null,
  name text not null,
  sealed bytea not null,
  primary key (org, execution, name),
  foreign key (org, execution) references execution on delete cascade
);

-- The state of each task of the definition, for the drawing.
create table execution_step (
  org uuid not null,
  execution uuid not null,
  place text not null,
  state text not null check (state in ('running', 'done', 'skipped', 'failed', 'canceled')),
  number integer not null,
  times integer not null default 1,
  changed_at timestamptz not null default clock_timestamp(),
  primary key (org, execution, place),
  foreign key (org, execution) references execution on delete cascade
);

create table execution_log (
  org uuid not null,
  execution uuid not null,
  -- Counted by the run, so that a repeated line is recognised.
  seq integer not null,
  at timestamptz not null,
  severity text not null check (severity in ('debug', 'info', 'warning', 'error')),
  summary text not null,
  detail text not null default '',
  origin text not null default '',
  primary key (org, execution, seq),
  foreign key (org, execution) references execution on delete cascade
);

-- A question of a run that waits for a person.
create table interaction (
  org uuid not null,
  execution uuid not null,
  -- The run's id for it.
  id text not null,
  title text not null,
  text text not null default '',
  -- JSON Schema of the answer; null: anything.
  form json,
  state text not null default 'open' check (state in ('open', 'answered', 'over')),
  answered_by text,
  asked_at timestamptz not null default clock_timestamp(),
  answered_at timestamptz,
  -- other: the user who started the run may not answer.
  approver text not null default 'anyone' check (approver in ('anyone', 'other')),
  primary key (org, execution, id),
  foreign key (org, execution) references execution on delete cascade
);
create index interaction_open on interaction (org, asked_at, id) where state = 'open';

-- Row-level security, the second barrier between tenants behind the authorisation of every route: a request's transaction acts as
-- skerry_workflow_tenant and sees the rows of one organisation, or as skerry_workflow_system and sees all rows.
do $$ begin
  create role skerry_workflow_tenant nologin;
exception when duplicate_object or unique_violation then null; end $$;
do $$ begin
  create role skerry_workflow_system nologin;
exception when duplicate_object or unique_violation then null; end $$;
grant skerry_workflow_tenant, skerry_workflow_system to current_user;

do $$
declare each text;
begin
  foreach each in array array['category', 'workflow', 'workflow_version', 'schedule', 'execution', 'execution_secret',
    'execution_step', 'execution_log', 'interaction'] loop
    execute format('alter table %I enable row level security', each);
    execute format('alter table %I force row level security', each);
    execute format(
      'create policy %I on %I to skerry_workflow_tenant using (org = nullif(current_setting(''app.org'', true), '''')::uuid)',
      each || '_own', each);
    execute format('create policy %I on %I to skerry_workflow_system using (true)', each || '_all', each);
    execute format('grant select, insert, update, delete on %I to skerry_workflow_tenant, skerry_workflow_system', each);
  end loop;
end $$;
revoke update, delete on workflow_version from skerry_workflow_tenant, skerry_workflow_system;
-- Tenants cannot read secrets. Their names are readable, so that they can be deleted.
revoke select, update on execution_secret from skerry_workflow_tenant;
grant select (org, execution, name) on execution_secret to skerry_workflow_tenant;
grant usage on all sequences in schema public to skerry_workflow_tenant, skerry_workflow_system;
