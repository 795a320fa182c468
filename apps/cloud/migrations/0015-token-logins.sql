-- An API token logs in wherever a password does, and may have an end.

-- null: it ends only when it is revoked.
alter table access_token add column expires_at timestamptz;
create index access_token_expiry on access_token (expires_at) where expires_at is not null;

-- The token that the session began with; null: a password. A session does not outlive its token.
alter table session add column access_token uuid,
  add foreign key (org, access_token) references access_token on delete cascade;
create index session_of_access_token on session (org, access_token) where access_token is not null;

-- Workflow servers cache accepted credentials, so they learn of tokens that have ended as they do of accounts that have changed.
create constraint trigger stamp_accounts after delete on access_token
  deferrable initially deferred for each row execute function stamp_accounts();
