-- Webhooks: addresses that get the events of an organisation, in their order, as signed messages.

create table webhook (
  org uuid not null references org,
  id uuid not null default uuid_v7(),
  name text collate "C" not null check (name ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  url text not null,
  -- The kinds of events that are sent; 'vm.' is all that begin with it. Empty: all.
  kinds text[] not null default '{}',
  -- The secret that signs, encrypted with the key of the cells; and the one before it, which signs too until then.
  sealed bytea not null,
  sealed_before bytea,
  before_until timestamptz,
  made_at timestamptz not null default clock_timestamp(),
  -- Why nothing is sent: an administrator disabled it, it failed for too long, or its receiver said that it is gone.
  disabled text check (disabled in ('asked', 'failing', 'gone')),
  -- The receiver took everything up to here; there was nothing to send before `reached` either.
  tx xid8 not null,
  seq bigint not null,
  reached timestamptz not null default clock_timestamp(),
  -- Sending again raises it, so that the messages are new ones.
  round integer not null default 0,
  -- Attempts that failed since a message was taken, since when, and when the next one is due.
  attempts integer not null default 0,
  failing_since timestamptz,
  next_at timestamptz not null default clock_timestamp(),
  last_answer text,
  -- Whether there may be events to send although no cell notices a new one.
  behind boolean not null default true,
  -- The cell that sends holds it until then. Each claim has a number; who has an older one changes nothing.
  claim bigint not null default 0,
  lease_until timestamptz not null default '-infinity',
  primary key (org, id),
  unique (id),
  unique (org, name)
);

-- The last messages of each webhook, and what the receiver answered.
create table webhook_delivery (
  org uuid not null,
  webhook uuid not null,
  id uuid not null default uuid_v7(),
  at timestamptz not null default clock_timestamp(),
  -- The first and the last event, whether sent or left out by its kind.
  first_tx xid8 not null,
  first_seq bigint not null,
  last_tx xid8 not null,
  last_seq bigint not null,
  events integer not null,
  -- Null: there was no answer.
  status integer,
  milliseconds integer not null,
  taken boolean not null,
  answer text not null,
  primary key (org, webhook, id),
  foreign key (org, webhook) references webhook on delete cascade
);


-- ── Permissions ────────────────────────────────────────────────────────────────────────────────────────────────────────────

do $$
declare each text;
begin
  foreach each in array array['webhook', 'webhook_delivery'] loop
    execute format('alter table %I enable row level security', each);
    execute format('alter table %I force row level security', each);
    execute format('create policy %I on %I to skerry_tenant using (org = nullif(current_setting(''app.org'', true), '''')::uuid)',
      each || '_own', each);
    execute format('create policy %I on %I to skerry_system using (true)', each || '_all', each);
    execute format('grant select, insert, update, delete on %I to skerry_system', each);
  end loop;
end $$;
grant select, insert, update, delete on webhook to skerry_tenant;
grant select on webhook_delivery to skerry_tenant;
