-- A second factor beside the password: codes of an app (TOTP, RFC 6238), and recovery codes for who has lost it.

-- Whether users with a password need a second factor. Who has none may only add one.
alter table org add column second_factor_required boolean not null default false;

create table second_factor (
  org uuid not null,
  id uuid not null default uuid_v7(),
  account uuid not null,
  kind text not null default 'totp' check (kind in ('totp')),
  name text not null,
  -- The secret, encrypted with the key of the cells.
  sealed bytea not null,
  -- The last step whose code was taken. Each is taken once.
  used_step integer not null default 0,
  -- Whether a code has shown that the app has the secret. One that is not confirmed ends after 15 minutes.
  confirmed boolean not null default false,
  made_at timestamptz not null default clock_timestamp(),
  used_at timestamptz,
  primary key (org, id),
  unique (org, account, name),
  foreign key (org, account) references account on delete cascade
);
-- Workflow servers cache accepted passwords, so they learn that one alone does not count any more.
create constraint trigger stamp_accounts after delete or update of confirmed on second_factor
  deferrable initially deferred for each row execute function stamp_accounts();
create index second_factor_unconfirmed on second_factor (made_at) where not confirmed;

-- Codes of 80 random bits, as SHA-256 hashes. Each lets its user in once.
create table recovery_code (
  org uuid not null,
  account uuid not null,
  hash bytea not null,
  used_at timestamptz,
  primary key (org, account, hash),
  foreign key (org, account) references account on delete cascade
);


-- ── Permissions ────────────────────────────────────────────────────────────────────────────────────────────────────────────

do $$
declare each text;
begin
  foreach each in array array['second_factor', 'recovery_code'] loop
    execute format('alter table %I enable row level security', each);
    execute format('alter table %I force row level security', each);
    execute format('create policy %I on %I to skerry_tenant using (org = nullif(current_setting(''app.org'', true), '''')::uuid)',
      each || '_own', each);
    execute format('create policy %I on %I to skerry_system using (true)', each || '_all', each);
    execute format('grant select, insert, update, delete on %I to skerry_system, skerry_tenant', each);
  end loop;
end $$;
